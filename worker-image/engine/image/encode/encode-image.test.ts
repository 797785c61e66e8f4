import sharp, { type Sharp } from 'sharp';
import { expect, it, describe } from 'vitest';
import { outputOf } from '#test/fixtures/encoder-output.ts';
import { engineDeps } from '#test/fixtures/engine-work.ts';
import {
  encodeImage,
  hasKeptProfile,
  resizedSize,
  resizeImage,
  type Encoding,
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
    ['a gray profile with 8 bits', profile('GRAY', 'Dot Gain'), 'b-w', false],
    ['a gray profile with 16 bits', profile('GRAY', 'Dot Gain'), 'grey16', true],
    ['a gray profile on RGB samples', profile('GRAY', 'Dot Gain'), 'srgb', false],
    ['CMYK', profile('CMYK', 'FOGRA'), 'cmyk', false],
    ['a truncated profile', Buffer.alloc(20), 'srgb', false],
    ['no profile', undefined, 'srgb', false],
  ] as const)('returns for %s whether the profile is kept', (_what, icc, space, kept) => {
    expect(hasKeptProfile({ space, ...(icc && { icc }) })).toBe(kept);
  });
});

describe('encodeImage', () => {
  const encodingOf = async (image: Sharp, over: Partial<Encoding>): Promise<Encoding> => {
    const { picture, source, quality, lossless } = await outputOf(image);
    return {
      picture,
      source,
      quality,
      lossless,
      target: 'png',
      resize: null,
      keepMetadata: false,
      exif: null,
      ...over,
    };
  };
  const blank = (width: number, height: number): Sharp =>
    sharp({ create: { width, height, channels: 4, background: '#25588880' } });

  it.each([
    ['webp', 'WebP', 16_383],
    ['jpg', 'JPEG', 65_500],
  ] as const)('refuses a side that %s cannot have, with its name and limit', async (target, name, maxSide) => {
    const longest = await encodeImage(engineDeps(), await encodingOf(blank(maxSide, 1), { target }));
    expect(await sharp(longest.path).metadata()).toMatchObject({ width: maxSide, height: 1 });
    await expect(encodeImage(engineDeps(), await encodingOf(blank(maxSide + 1, 1), { target }))).rejects.toMatchObject({
      code: 'limit_exceeded',
      message: expect.stringContaining(`maximum side of ${name} is ${maxSide}`),
    });
  });

  it('makes transparency white in a format without it', async () => {
    const { path } = await encodeImage(
      engineDeps(),
      await encodingOf(sharp({ create: { width: 4, height: 4, channels: 4, background: '#0000' } }), { target: 'jpg' }),
    );
    const { data, info } = await sharp(path).raw().toBuffer({ resolveWithObject: true });
    expect([info.channels, data[0]]).toEqual([3, 255]);
  });

  it('keeps EXIF for a caller who wants it only', async () => {
    const tagged = (): Sharp => blank(8, 8).withExif({ IFD0: { Make: 'Planted' } });
    for (const keepMetadata of [true, false]) {
      const { path } = await encodeImage(engineDeps(), await encodingOf(tagged(), { target: 'webp', keepMetadata }));
      expect((await sharp(path).metadata()).exif?.includes('Planted') ?? false).toBe(keepMetadata);
    }
  });
});
