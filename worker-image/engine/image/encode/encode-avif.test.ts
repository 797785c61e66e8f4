import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { describe, expect, it } from 'vitest';
import { freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { imageHandler } from '#worker-image/engine/image/image-handler.ts';
import { parseAvif } from '#worker-image/engine/image/encode/parse-avif.ts';
import { avifSettings, effortsOf, encodeTiled } from '#worker-image/engine/image/encode/encode-avif.ts';
import { encoderQuality } from '#worker-image/engine/image/encode/quality-scale.ts';

/** Size of two by three tiles, of which the last ones are not full, in pixels. */
const SIZE = { width: 2100, height: 4100 };
const SETTINGS = { quality: 70, effort: 0, chromaSubsampling: '4:4:4' } as const;
/** Maximum mean difference of a sample, of 255. */
const MAX_DIFFERENCE = 3;

describe('encodeTiled', () => {
  it.each([
    ['colour', {}, (): Sharp => drawing()],
    ['subsampled chroma', { chromaSubsampling: '4:2:0' }, (): Sharp => drawing()],
    ['transparency, also where a tile is opaque', {}, (): Sharp => drawing('rgba')],
    ['grey', {}, (): Sharp => drawing().greyscale()],
    ['ten bits a sample', { bitdepth: 10 }, (): Sharp => drawing().toColourspace('rgb16')],
  ] as const)('writes the same image as in one frame: %s', async (_what, over, pipeline) => {
    const settings = { ...SETTINGS, bitdepth: 8, ...over } as const;
    const tiled = await encodeTiled({ pipeline, path: await freshPath(), settings });
    const [written, wanted] = await Promise.all([samples(tiled), samples(await pipeline().png().toBuffer())]);
    expect(written.info).toMatchObject(SIZE);
    expect(difference(written.data, wanted.data)).toBeLessThan(MAX_DIFFERENCE);
  });

  it('writes profile and EXIF once', async () => {
    const pipeline = (): Sharp =>
      drawing()
        .withIccProfile('p3')
        .withExif({ IFD0: { Copyright: 'Ada' } });
    const tiled = await encodeTiled({ pipeline, path: await freshPath(), settings: { ...SETTINGS, bitdepth: 8 } });
    const [written, wanted] = await Promise.all(
      [tiled, await pipeline().avif(SETTINGS).toBuffer()].map((f) => sharp(f).metadata()),
    );
    expect(wanted?.exif?.includes('Ada')).toBe(true);
    expect(written?.icc).toEqual(wanted?.icc);
    expect(written?.exif).toEqual(wanted?.exif);
    expect(parseAvif(tiled).layers).toHaveLength(6);
  });
});

async function freshPath(): Promise<string> {
  return join(await freshDirectory(), 'out.avif');
}

/** Returns a gradient of colors; with `rgba` the first tile is partly transparent. */
function drawing(channels: 'rgb' | 'rgba' = 'rgb'): Sharp {
  const [width, height] = [SIZE.width / 100, SIZE.height / 100];
  const count = channels.length;
  const data = Buffer.alloc(width * height * count, 255);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * count;
      data.set([x * 12, y * 6, 255 - x * 6 - y], at);
      if (count === 4 && x < 10 && y < 10) data[at + 3] = 128;
    }
  }
  return sharp(data, { raw: { width, height, channels: count === 4 ? 4 : 3 } }).resize({ ...SIZE, kernel: 'nearest' });
}

function samples(file: Buffer) {
  return sharp(file).toColourspace('srgb').ensureAlpha().raw({ depth: 'uchar' }).toBuffer({ resolveWithObject: true });
}

function difference(one: Buffer, other: Buffer): number {
  let sum = 0;
  for (let i = 0; i < one.length; i += 1) sum += Math.abs((one[i] ?? 0) - (other[i] ?? 0));
  return sum / one.length;
}

describe('avifSettings', () => {
  it.each([
    [79, 'photo', '4:2:0'],
    [80, 'photo', '4:4:4'],
    [10, 'graphic', '4:4:4'],
  ] as const)('at quality %d writes a %s with chroma %s', (quality, content, chromaSubsampling) => {
    const target = { quality, content, encoders: encoderQuality(quality, content) };
    expect(avifSettings(target, { effort: 3, bitdepth: 8 })).toMatchObject({ chromaSubsampling });
  });
});

describe('effortsOf', () => {
  it.each([
    [1_000_000, { smooth: 4, detailed: 4 }],
    [1_000_001, { smooth: 3, detailed: 2 }],
    [24_000_001, { smooth: 2, detailed: 2 }],
    [60_000_001, { smooth: 1, detailed: 1 }],
  ])('returns for %d pixels %o', (pixels, efforts) => {
    expect(effortsOf(pixels)).toMatchObject(efforts);
  });
});

describe('an AVIF of more than a megapixel', () => {
  const [width, height] = [1200, 900];
  const photo = (sigma: number, quality: number): Promise<Buffer> =>
    sharp({ create: { width, height, channels: 3, background: '#888', noise: { type: 'gaussian', mean: 128, sigma } } })
      .jpeg({ quality, chromaSubsampling: '4:2:0' })
      .toBuffer();

  it.each([
    ['a detailed photo', photo(30, 90), 2],
    ['a smooth photo', photo(2, 99), 3],
    ['a photo of which the input has few bits', photo(30, 5), 3],
  ])('is written with the effort for %s', async (_what, input, effort) => {
    const path = join(await freshDirectory(), 'photo.jpg');
    await writeFile(path, await input);
    const work = await workOn({ path, format: 'jpg', operation: 'compress', options: { image: { format: 'avif' } } });
    const { path: output } = await runHandler(imageHandler, work);
    const target = { quality: 75, content: 'photo', encoders: encoderQuality(75, 'photo') } as const;
    const wanted = sharp(path).avif(avifSettings(target, { effort, bitdepth: 8 }));
    expect((await readFile(output)).equals(await wanted.toBuffer())).toBe(true);
  });
});
