import { describe, expect, it } from 'vitest';
import { isBilled, unitsOfWork } from '#api/billing/price.ts';
import type { EngineResult } from '#crds/contract/result.ts';
import { PRICE_BOOK } from '#crds/catalogue/prices.ts';

const result = { kind: 'pdf', pages: 101, kept_original: false } as EngineResult;

describe('isBilled', () => {
  it.each([
    ['live work that succeeded', true, result, true],
    ['work of a test key', false, result, false],
    ['work that failed', true, null, false],
    ['a returned original', true, { ...result, kept_original: true }, false],
  ])('for %s, live %s', (_what, livemode, of, is) => {
    expect(isBilled({ livemode, result: of })).toBe(is);
  });
});

describe('unitsOfWork', () => {
  it('returns the units of billed work, and 0 on `unbilled` for free work', () => {
    const work = { operation: 'compress', result } as const;
    expect(unitsOfWork(PRICE_BOOK, { ...work, livemode: true })).toEqual({ meter: 'pdfs', quantity: 2 });
    expect(unitsOfWork(PRICE_BOOK, { ...work, livemode: false })).toEqual({ meter: 'unbilled', quantity: 0 });
  });
});
