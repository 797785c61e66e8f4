import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { writeTiff } from '#test/fixtures/write-tiff.ts';
import { imageHandler } from '#worker-image/engine/image/image-handler.ts';

const HEADER = Buffer.from('II*\0\x08\0\0\0', 'latin1');
const [SIDE, YCBCR, LAB, GRAY, RGB] = [16, 6, 8, 1, 2];
const [SIGNED, FLOAT] = [2, 3];
const [PLAIN, ZSTD] = [1, 50_000];

interface TiffVariant {
  readonly photometric: number;
  /** Bytes of each pixel. */
  readonly pixel: readonly number[];
  /** Bits per sample. */
  readonly bits?: number;
  readonly sampleFormat?: number;
  readonly orientation?: number;
  /** TIFF's number of the compression. */
  readonly compression?: number;
}

/** A TIFF of one color. */
function tiff(variant: TiffVariant): Buffer {
  const { photometric, pixel, bits = 8, sampleFormat = 1, orientation = 1, compression = PLAIN } = variant;
  const samples = Array.from({ length: (pixel.length * 8) / bits });
  const short = (id: number, ...values: number[]) => ({ id, type: 'short', values }) as const;
  const pixels = Buffer.concat(Array.from({ length: SIDE * SIDE * 2 }, () => Buffer.from(pixel)));
  const picture = compression === ZSTD ? zstdCompressSync(pixels) : pixels;
  const tags = [
    short(256, SIDE * 2),
    short(257, SIDE),
    short(258, ...samples.map(() => bits)),
    short(259, compression),
    short(262, photometric),
    { id: 273, type: 'long', values: 'picture' } as const,
    short(274, orientation),
    short(277, samples.length),
    short(278, SIDE),
    { id: 279, type: 'long', values: [picture.length] } as const,
    ...(photometric === YCBCR ? [short(530, 1, 1)] : []),
    short(339, ...samples.map(() => sampleFormat)),
  ];
  return writeTiff(HEADER, tags, picture);
}

async function converted(bytes: Buffer): Promise<{ width: number; height: number; color: number[] }> {
  const path = join(await freshDirectory(), 'odd.tiff');
  await writeFile(path, bytes);
  const work = await workOn({ path, format: 'tiff', operation: 'convert', options: { convert: { to: 'png' } } });
  const produced = await runHandler(imageHandler, work);
  const { width, height } = await sharp(produced.path).metadata();
  return {
    width,
    height,
    color: [...(await sharp(produced.path).toColourspace('srgb').removeAlpha().raw().toBuffer()).subarray(0, 3)],
  };
}

describe('a TIFF that libvips does not read', () => {
  it.each([
    ['luminance and colour differences that are not packed', { photometric: YCBCR, pixel: [76, 85, 255] }, [254, 0, 0]],
    ['CIE Lab', { photometric: LAB, pixel: [136, 80, 67] }, [254, 0, 0]],
    ['packed as Zstandard', { photometric: RGB, pixel: [200, 100, 50], compression: ZSTD }, [200, 100, 50]],
    ['samples that claim to be signed', { photometric: GRAY, pixel: [200], sampleFormat: 2 }, [200, 200, 200]],
    [
      'numbers from 0 to 1',
      { photometric: GRAY, pixel: [0, 0, 0, 0x3f], bits: 32, sampleFormat: FLOAT },
      [128, 128, 128],
    ],
    [
      'signed integers from 0 to 65,535',
      { photometric: GRAY, pixel: [0, 0x80, 0, 0], bits: 32, sampleFormat: SIGNED },
      [128, 128, 128],
    ],
    [
      'numbers from 0 to 1 of 16 bits',
      { photometric: GRAY, pixel: [0, 0x38], bits: 16, sampleFormat: FLOAT },
      [128, 128, 128],
    ],
  ] as const)('keeps its colors: %s', async (_what, variant, color) => {
    const result = await converted(tiff(variant));
    expect([result.width, result.height]).toEqual([SIDE * 2, SIDE]);
    result.color.forEach((value, i) => expect(Math.abs(value - (color[i] ?? 0))).toBeLessThan(16));
  });

  it('is rotated by its orientation', async () => {
    const result = await converted(tiff({ photometric: YCBCR, pixel: [76, 85, 255], orientation: 6 }));
    expect([result.width, result.height]).toEqual([SIDE, SIDE * 2]);
  });

  it('is used up to its first page, with a warning that names the number of pages', async () => {
    const first = tiff({ photometric: YCBCR, pixel: [76, 85, 255] });
    const link = HEADER.length + 2 + first.readUInt16LE(HEADER.length) * 12;
    first.writeUInt32LE(first.length, link);
    const second = first.subarray(HEADER.length, link);
    const path = join(await freshDirectory(), 'pages.tiff');
    await writeFile(path, Buffer.concat([first, second, Buffer.alloc(4)]));
    const work = await workOn({ path, format: 'tiff', operation: 'convert', options: { convert: { to: 'png' } } });
    expect((await runHandler(imageHandler, work)).warnings).toEqual([expect.stringContaining('2 pages')]);
  });

  it('loses its metadata and keeps its pixels', async () => {
    const path = join(await freshDirectory(), 'odd.tiff');
    await writeFile(path, tiff({ photometric: YCBCR, pixel: [76, 85, 255] }));
    const produced = await runHandler(
      imageHandler,
      await workOn({ path, format: 'tiff', operation: 'strip_metadata' }),
    );
    expect(produced).toMatchObject({ format: 'tiff' });
  });
});

describe('a TIFF that begins with a preview', () => {
  /** Returns a gray page whose offsets count from a position in the file, with further tags. */
  const pageAt = (at: number, side: number, shade: number, ...more: Parameters<typeof writeTiff>[1]): Buffer => {
    const short = (id: number, value: number) => ({ id, type: 'short', values: [value] }) as const;
    const tags = [
      short(256, side),
      short(257, side),
      short(258, 8),
      short(259, PLAIN),
      short(262, GRAY),
      { id: 273, type: 'long', values: 'picture' } as const,
      short(277, 1),
      short(278, side),
      { id: 279, type: 'long', values: [side * side] } as const,
      ...more,
    ].toSorted((one, other) => one.id - other.id);
    return writeTiff(Buffer.alloc(at), tags, Buffer.alloc(side * side, shade)).subarray(at);
  };

  it.each(['nested in the preview', 'on the next page'])('is read with the image %s', async (where) => {
    const isNested = where.startsWith('nested');
    const tags = (offset: number) => [
      { id: 254, type: 'long', values: [1] } as const,
      ...(isNested ? [{ id: 330, type: 'long', values: [offset] } as const] : []),
    ];
    const length = pageAt(HEADER.length, 8, 0, ...tags(0)).length;
    const image = HEADER.length + length;
    const preview = pageAt(HEADER.length, 8, 0, ...tags(image));
    if (!isNested) preview.writeUInt32LE(image, 2 + preview.readUInt16LE(0) * 12);
    const path = join(await freshDirectory(), 'camera.tif');
    await writeFile(path, Buffer.concat([HEADER, preview, pageAt(image, 32, 200)]));
    const work = await workOn({ path, format: 'tiff', operation: 'convert', options: { convert: { to: 'png' } } });
    const produced = await runHandler(imageHandler, work);
    const { data, info } = await sharp(produced.path).raw().toBuffer({ resolveWithObject: true });
    expect([info.width, info.height, data[0]]).toEqual([32, 32, 200]);
  });
});
