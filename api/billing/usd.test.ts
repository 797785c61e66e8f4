import { describe, expect, it } from 'vitest';
import { microUsdOf, usdOf } from '#api/billing/usd.ts';

describe('microUsdOf', () => {
  it.each([
    ['0', 0],
    ['12.50', 12_500_000],
    ['0.000001', 1],
    ['0.1', 100_000],
    ['1000000000', 1e15],
  ])('parses %s as %i micro-dollars', (text, microUsd) => {
    expect(microUsdOf(text)).toBe(microUsd);
    expect(usdOf(microUsd)).toBe(Number(text));
  });

  it.each(['', '-1', '1e3', '.5', '1.', '0.0000001', '1000000000.01', '1,000', '$5'])(
    'returns null for "%s"',
    (text) => {
      expect(microUsdOf(text)).toBeNull();
    },
  );
});
