import { describe, expect, it } from 'vitest';
import { becomesDisplayP3, hasKeptProfile } from '#worker-image/engine/image/encode/color-profile.ts';

function profile(space: string, name: string): Buffer {
  const icc = Buffer.alloc(160);
  icc.write(space, 16, 'latin1');
  icc.write(name, 128, 'latin1');
  return icc;
}

describe('hasKeptProfile', () => {
  it.each([
    ['a wide RGB profile', profile('RGB ', 'Display P3'), 'srgb', true],
    ['sRGB with 8 bits', profile('RGB ', 'sRGB'), 'srgb', false],
    ['sRGB with 16 bits', profile('RGB ', 'sRGB'), 'rgb16', true],
    ['a gray profile', profile('GRAY', 'Dot Gain'), 'b-w', true],
    ['a gray profile on RGB samples', profile('GRAY', 'Dot Gain'), 'srgb', false],
    ['CMYK', profile('CMYK', 'FOGRA'), 'cmyk', false],
    ['a truncated profile', Buffer.alloc(20), 'srgb', false],
    ['no profile', undefined, 'srgb', false],
  ] as const)('returns for %s whether the profile is kept', (_what, icc, space, kept) => {
    expect(hasKeptProfile({ space, ...(icc && { icc }) })).toBe(kept);
  });
});

describe('becomesDisplayP3', () => {
  it('is true for samples of 16 bits with a profile', () => {
    expect(becomesDisplayP3({ icc: profile('RGB ', 'sRGB'), space: 'rgb16' })).toBe(true);
    expect(becomesDisplayP3({ icc: profile('RGB ', 'sRGB'), space: 'srgb' })).toBe(false);
    expect(becomesDisplayP3({ space: 'rgb16' })).toBe(false);
  });
});
