import { describe, expect, it } from 'vitest';
import { isLimitedRangeStill } from '#worker-image/engine/containers/av1-sequence.ts';

describe('isLimitedRangeStill', () => {
  // Headers of gray and color images of 1204 × 800 pixels, as libaom writes them.
  it.each([
    ['8 bits, limited range', '0a07196a659e3fca20', true],
    ['10 bits, limited range', '0a07196a659e3fce20', true],
    ['12 bits, limited range', '0a07596a659e3fcf10', true],
    ['8 bits, full range', '0a07196a659e3fcaa0', false],
    ['another unit', '1207196a659e3fca20', false],
    ['a truncated header', '0a07196a65', false],
    ['nothing', '', false],
  ])('decides on a header of %s', (_what, hex, expected) => {
    expect(isLimitedRangeStill(Buffer.from(hex, 'hex'))).toBe(expected);
  });
});
