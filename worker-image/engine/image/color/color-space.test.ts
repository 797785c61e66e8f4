import { describe, expect, it } from 'vitest';
import { BT_709, colorSpaceOf, gamma } from '#worker-image/engine/image/color/color-space.ts';

const [SDR, PQ, HLG, LINEAR] = [13, 16, 18, 8];

describe('colorSpaceOf', () => {
  it.each([
    ['sRGB', 1, SDR],
    ['unspecified colors', 2, 2],
    ['old video', 6, 6],
    ['reserved numbers', 0, 300],
  ])('returns null for %s', (_what, primaries, transfer) => {
    expect(colorSpaceOf({ primaries, transfer })).toBeNull();
  });

  it('returns wide primaries with the curve of sRGB', () => {
    const displayP3 = colorSpaceOf({ primaries: 12, transfer: SDR });
    expect(displayP3).toMatchObject({ isWide: true, isHdr: false, primaries: { red: [0.68, 0.32] } });
    expect(displayP3?.toLinear(0.5)).toBeCloseTo(0.214, 3);
  });

  it('returns the primaries of sRGB with another curve', () => {
    const linear = colorSpaceOf({ primaries: 1, transfer: LINEAR });
    expect(linear).toMatchObject({ isWide: false, primaries: BT_709 });
    expect(linear?.toLinear(0.3)).toBeCloseTo(0.3, 6);
  });

  // Signals of 203 cd/m² in ITU-R BT.2408: 58 % of PQ, 75 % of HLG.
  it.each([
    ['PQ', PQ, 0.58],
    ['HLG', HLG, 0.75],
  ])(
    'shows the white of %s a little darker than that of a screen, with room for highlights',
    (_name, transfer, signal) => {
      const hdr = colorSpaceOf({ primaries: 9, transfer });
      expect(hdr?.isHdr).toBe(true);
      expect(hdr?.toLinear(0)).toBeCloseTo(0, 6);
      const white = hdr?.toLinear(signal) ?? 0;
      expect(white).toBeGreaterThan(0.88);
      expect(white).toBeLessThan(0.93);
      expect(hdr?.toLinear(1)).toBeGreaterThan(0.99);
    },
  );
});

describe('gamma', () => {
  it('returns a power', () => {
    expect(gamma(2).toLinear(0.5)).toBe(0.25);
  });
});
