import { describe, expect, it } from 'vitest';
import { pngColorSpace } from '#worker-image/engine/image/color/png-color.ts';

function numbers(...values: readonly number[]): Buffer {
  const data = Buffer.alloc(4 * values.length);
  values.forEach((value, i) => data.writeUInt32BE(value, 4 * i));
  return data;
}

const SRGB_POINTS = numbers(31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6000);
const P3_POINTS = numbers(31_270, 32_900, 68_000, 32_000, 26_500, 69_000, 15_000, 6000);
const NONE = Buffer.alloc(0);
const [GAMMA_22, LINEAR] = [numbers(45_455), numbers(100_000)];
const DISPLAY_P3 = Buffer.from([12, 13, 0, 1]);

describe('pngColorSpace', () => {
  it.each<readonly [string, Record<string, Buffer>]>([
    ['no chunk', {}],
    ['sRGB beside another gamma', { sRGB: NONE, gAMA: LINEAR }],
    ['an ICC profile beside another gamma', { iCCP: NONE, gAMA: LINEAR, cHRM: P3_POINTS }],
    ['the gamma of sRGB', { gAMA: GAMMA_22 }],
    ['gamma and primaries of sRGB', { gAMA: GAMMA_22, cHRM: SRGB_POINTS }],
    ['primaries without gamma', { cHRM: P3_POINTS }],
    ['a gamma of 0', { gAMA: numbers(0) }],
    ['primaries that enclose no white', { gAMA: GAMMA_22, cHRM: numbers(1, 1, 1, 1, 1, 1, 1, 1) }],
    ['the numbers of sRGB', { cICP: Buffer.from([1, 13, 0, 1]), gAMA: LINEAR }],
  ])('returns null for %s', (_what, chunks) => {
    expect(pngColorSpace(new Map(Object.entries(chunks)))).toBeNull();
  });

  it('prefers numbers to an ICC profile', () => {
    expect(
      pngColorSpace(
        new Map([
          ['cICP', DISPLAY_P3],
          ['iCCP', NONE],
        ]),
      ),
    ).toMatchObject({ isWide: true });
  });

  it('returns another gamma with the primaries of sRGB', () => {
    const linear = pngColorSpace(
      new Map([
        ['gAMA', LINEAR],
        ['cHRM', SRGB_POINTS],
      ]),
    );
    expect(linear?.isWide).toBe(false);
    expect(linear?.toLinear(0.25)).toBeCloseTo(0.25, 6);
  });

  it('returns wide primaries with a gamma', () => {
    const wide = pngColorSpace(
      new Map([
        ['gAMA', GAMMA_22],
        ['cHRM', P3_POINTS],
      ]),
    );
    expect(wide).toMatchObject({ isWide: true, primaries: { green: [0.265, 0.69] } });
  });
});
