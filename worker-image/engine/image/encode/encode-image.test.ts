import sharp from 'sharp';
import { expect, it, describe } from 'vitest';
import {
  hasKeptProfile,
  resizedSize,
  resizeImage,
  type Resize,
} from '#worker-image/engine/image/encode/encode-image.ts';

const jpeg = await sharp({ create: { width: 3000, height: 1500, channels: 3, background: '#408040' } })
  .jpeg()
  .toBuffer();
const box = { width: 100, height: 100 };

// Promise, Direct endpoints: Formats and resizing of images
it.each<[NonNullable<Resize>, { width: number; height: number }]>([
  [
    { mode: 'height', ...box },
    { width: 200, height: 100 },
  ],
  [
    { mode: 'width', ...box },
    { width: 100, height: 50 },
  ],
  [
    { mode: 'fit', ...box },
    { width: 100, height: 50 },
  ],
  [
    { mode: 'fill', ...box },
    { width: 100, height: 100 },
  ],
  [
    { mode: 'height', width: 100, height: 333 },
    { width: 666, height: 333 },
  ],
  [
    { mode: 'width', width: 777, height: 100 },
    { width: 777, height: 389 },
  ],
  [
    { mode: 'height', width: 100, height: 5000 },
    { width: 3000, height: 1500 },
  ],
])('a JPEG of 3000 × 1500 pixels resized by %j has the nearest whole pixels %j', async (resize, size) => {
  const input = { width: 3000, height: 1500 };
  expect(resizedSize(input, resize)).toEqual(size);
  const { info } = await resizeImage(sharp(jpeg), input, resize).toBuffer({ resolveWithObject: true });
  expect({ width: info.width, height: info.height }).toEqual(size);
});

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
