import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { ImageTarget } from '#crds/catalogue/formats.ts';
import { freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { fileReaderOf } from '#test/fixtures/memory-file-reader.ts';
import { writeTiff, type Tag } from '#test/fixtures/write-tiff.ts';
import type { Produced } from '#worker-image/engine/handler.ts';
import { firstTiffDirectory, TIFF_TAG, tiffRational } from '#worker-image/engine/containers/tiff.ts';
import { imageHandler } from '#worker-image/engine/image/image-handler.ts';

const HEADER = Buffer.from('II*\0\x08\0\0\0', 'latin1');
const [SIDE, YCBCR, LAB, GRAY, RGB, CMYK] = [16, 6, 8, 1, 2, 5];
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
  readonly more?: readonly Tag[];
}

/** A TIFF of one color. */
function tiff(variant: TiffVariant): Buffer {
  const { photometric, pixel, bits = 8, sampleFormat = 1, orientation = 1, compression = PLAIN, more = [] } = variant;
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
    ...more,
  ].toSorted((one, other) => one.id - other.id);
  return writeTiff(HEADER, tags, picture);
}

async function convert(bytes: Buffer, to: ImageTarget): Promise<Produced> {
  const path = join(await freshDirectory(), 'odd.tiff');
  await writeFile(path, bytes);
  return runHandler(
    imageHandler,
    await workOn({ path, format: 'tiff', operation: 'convert', options: { convert: { to } } }),
  );
}

async function converted(bytes: Buffer): Promise<{ width: number; height: number; color: number[] }> {
  const produced = await convert(bytes, 'png');
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

describe('a TIFF with smaller versions of its image', () => {
  it('has one page', async () => {
    const create = { width: 200, height: 100, channels: 3 as const, background: '#258' };
    const pyramid = await sharp({ create })
      .tiff({ pyramid: true, tile: true, tileWidth: 32, tileHeight: 32 })
      .toBuffer();
    expect((await sharp(pyramid).metadata()).pages).toBeGreaterThan(1);
    expect((await convert(pyramid, 'png')).warnings).toEqual([]);
  });
});

describe('a TIFF with an extra channel', () => {
  const extraSamples = (...meanings: readonly number[]): Tag => ({ id: 338, type: 'short', values: meanings });
  const WARNING = 'An extra channel of the TIFF, which is no transparency, was dropped.';

  it.each([
    ['RGB', { photometric: RGB, pixel: [200, 100, 50, 0] }, [200, 100, 50]],
    ['gray', { photometric: GRAY, pixel: [200, 0] }, [200, 200, 200]],
    ['CMYK', { photometric: CMYK, pixel: [0, 0, 0, 0, 0] }, [255, 255, 255]],
    ['RGB of 16 bits', { photometric: RGB, pixel: [0, 200, 0, 100, 0, 50, 0, 0], bits: 16 }, [200, 100, 50]],
    ['RGB packed as Zstandard', { photometric: RGB, pixel: [200, 100, 50, 0], compression: ZSTD }, [200, 100, 50]],
  ] as const)('loses it with a warning when it is no transparency: %s', async (_what, variant, color) => {
    const bytes = tiff({ ...variant, more: [extraSamples(0)] });
    const { path, warnings } = await convert(bytes, 'png');
    expect(warnings).toEqual([WARNING]);
    expect((await sharp(path).metadata()).hasAlpha).toBe(false);
    (await converted(bytes)).color.forEach((value, i) => expect(Math.abs(value - color[i]!)).toBeLessThan(3));
  });

  it('keeps a channel that is transparency', async () => {
    const bytes = tiff({ photometric: RGB, pixel: [200, 100, 50, 128], more: [extraSamples(2)] });
    const { path, warnings } = await convert(bytes, 'png');
    expect([(await sharp(path).metadata()).hasAlpha, warnings]).toEqual([true, []]);
  });
});

describe('a TIFF whose pixels are not square', () => {
  const resolution = (x: number, y: number): Tag[] => [
    { id: 282, type: 'rational', values: [x] },
    { id: 283, type: 'rational', values: [y] },
  ];
  const fax = (orientation: number, more = resolution(204, 98)): Buffer =>
    tiff({ photometric: GRAY, pixel: [200], orientation, more });
  const pageOf = async (bytes: Buffer): Promise<readonly number[]> => {
    const pdf = await readFile((await convert(bytes, 'pdf')).path, 'latin1');
    return (/MediaBox \[0 0 (\S+) (\S+)\]/.exec(pdf) ?? []).slice(1).map(Number);
  };

  it('becomes a PDF page of its own shape, whatever its orientation', async () => {
    const [width, height] = [(SIDE * 2 * 72) / 204, (SIDE * 72) / 98].map((points) => Math.round(points * 100) / 100);
    expect(await pageOf(fax(1))).toEqual([width, height]);
    expect(await pageOf(fax(6))).toEqual([height, width]);
    const centimeter: Tag = { id: 296, type: 'short', values: [3] };
    expect(await pageOf(fax(1, [...resolution(204 / 2.54, 98 / 2.54), centimeter]))).toEqual([width, height]);
  });

  it('becomes another image with a warning', async () => {
    expect((await convert(fax(1), 'png')).warnings).toEqual([
      'The pixels of the TIFF are not square (204 x 98 dpi): viewers that ignore that show the result flat.',
    ]);
    expect((await convert(fax(1, resolution(204, 196)), 'png')).warnings).toEqual([]);
    expect((await convert(fax(1), 'pdf')).warnings).toEqual([]);
  });

  it('keeps both resolutions in a TIFF', async () => {
    const file = await readFile((await convert(fax(1), 'tiff')).path);
    const reader = fileReaderOf(file);
    const entries = await firstTiffDirectory(reader);
    expect(await tiffRational(reader, entries, TIFF_TAG.xResolution)).toBeCloseTo(204, 1);
    expect(await tiffRational(reader, entries, TIFF_TAG.yResolution)).toBeCloseTo(98, 1);
  });
});

describe('a TIFF that begins with a preview', () => {
  /** Returns a gray page whose offsets count from a position in the file, with further tags. */
  const pageAt = (
    at: number,
    { width, height }: { width: number; height: number },
    shade: number,
    ...more: readonly Tag[]
  ): Buffer => {
    const short = (id: number, value: number) => ({ id, type: 'short', values: [value] }) as const;
    const tags = [
      short(256, width),
      short(257, height),
      short(258, 8),
      short(259, PLAIN),
      short(262, GRAY),
      { id: 273, type: 'long', values: 'picture' } as const,
      short(277, 1),
      short(278, height),
      { id: 279, type: 'long', values: [width * height] } as const,
      ...more,
    ].toSorted((one, other) => one.id - other.id);
    return writeTiff(Buffer.alloc(at), tags, Buffer.alloc(width * height, shade)).subarray(at);
  };

  /** Returns a file of a preview of 8 × 8 pixels and an image of 32 × 16, with further tags of each. */
  const camera = (isNested: boolean, more: { preview?: readonly Tag[]; image?: readonly Tag[] } = {}): Buffer => {
    const tags = (offset: number): Tag[] => [
      { id: 254, type: 'long', values: [1] },
      ...(isNested ? [{ id: 330, type: 'long', values: [offset] } as const] : []),
      ...(more.preview ?? []),
    ];
    const side = { width: 8, height: 8 };
    const image = HEADER.length + pageAt(HEADER.length, side, 0, ...tags(0)).length;
    const preview = pageAt(HEADER.length, side, 0, ...tags(image));
    if (!isNested) preview.writeUInt32LE(image, 2 + preview.readUInt16LE(0) * 12);
    return Buffer.concat([HEADER, preview, pageAt(image, { width: 32, height: 16 }, 200, ...(more.image ?? []))]);
  };

  it.each(['nested in the preview', 'on the next page'])('is read with the image %s', async (where) => {
    expect(await converted(camera(where.startsWith('nested')))).toEqual({
      width: 32,
      height: 16,
      color: [200, 200, 200],
    });
  });

  it('is rotated by the orientation of the preview, unless the image has its own', async () => {
    const orientation = (value: number): Tag[] => [{ id: 274, type: 'short', values: [value] }];
    for (const isNested of [true, false]) {
      const sideways = await converted(camera(isNested, { preview: orientation(6) }));
      expect(sideways).toEqual({ width: 16, height: 32, color: [200, 200, 200] });
      const upright = await converted(camera(isNested, { preview: orientation(6), image: orientation(1) }));
      expect([upright.width, upright.height]).toEqual([32, 16]);
    }
  });
});
