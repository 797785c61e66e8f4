import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { writeTiff } from '#test/fixtures/write-tiff.ts';
import { imageHandler } from '#worker-image/engine/image/image-handler.ts';
import { uncompressedTiffHeader } from '#worker-image/engine/image/loaders/decode-tiff-samples.ts';

const HEADER = Buffer.from('II*\0\x08\0\0\0', 'latin1');
const [WIDTH, HEIGHT] = [15, 8];
const [WHITE_IS_ZERO, BLACK_IS_ZERO, RGB] = [0, 1, 2];
const [PIXELS, PLANES] = [1, 2];
const [NONE, DEFLATE] = [1, 8];

interface TiffLayout {
  readonly bits: number;
  /** Samples of each pixel, from 0 to 1. */
  readonly pixel: readonly number[];
  readonly photometric: number;
  readonly planar?: number;
  readonly compression?: number;
  readonly orientation?: number;
}

/** Returns a TIFF of one color. */
function tiff({ bits, pixel, photometric, planar = PIXELS, compression = NONE, orientation = 1 }: TiffLayout): Buffer {
  const rows = planar === PLANES ? pixel.map((value) => [value]) : [[...pixel]];
  const planes = rows.map((values) => {
    const row = packed(Array.from({ length: WIDTH }, () => values).flat(), bits);
    const plane = Buffer.concat(Array.from({ length: HEIGHT }, () => row));
    return compression === DEFLATE ? deflateSync(plane) : plane;
  });
  const short = (id: number, ...values: number[]) => ({ id, type: 'short', values }) as const;
  const tags = (start: number) => [
    short(256, WIDTH),
    short(257, HEIGHT),
    short(258, ...pixel.map(() => bits)),
    short(259, compression),
    short(262, photometric),
    {
      id: 273,
      type: 'long',
      values: planes.map((_, index) => start + planes.slice(0, index).reduce((sum, { length }) => sum + length, 0)),
    } as const,
    short(274, orientation),
    short(277, pixel.length),
    short(278, HEIGHT),
    { id: 279, type: 'long', values: planes.map(({ length }) => length) } as const,
    short(284, planar),
  ];
  const picture = Buffer.concat(planes);
  const start = writeTiff(HEADER, tags(0), picture).length - picture.length;
  return writeTiff(HEADER, tags(start), picture);
}

/** Packs samples of that many bits; those of whole bytes with the least significant byte first. */
function packed(values: readonly number[], bits: number): Buffer {
  const numbers = values.map((value) => BigInt(Math.round(value * (2 ** bits - 1))));
  const inOrder = (number: bigint): string => {
    const digits = number.toString(2).padStart(bits, '0');
    return bits % 8 === 0 ? (digits.match(/.{8}/g) ?? []).toReversed().join('') : digits;
  };
  const digits = numbers.map(inOrder).join('');
  return Buffer.from(
    (digits.padEnd(Math.ceil(digits.length / 8) * 8, '0').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)),
  );
}

async function convert(bytes: Buffer): Promise<{ width: number; height: number; color: number[] }> {
  const path = join(await freshDirectory(), 'odd.tiff');
  await writeFile(path, bytes);
  const work = await workOn({ path, format: 'tiff', operation: 'convert', options: { convert: { to: 'png' } } });
  const { path: png } = await runHandler(imageHandler, work);
  const { data, info } = await sharp(png)
    .toColourspace('srgb')
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const last = data.subarray(-info.channels);
  return { width: info.width, height: info.height, color: [...last].map((value) => Math.round((value / 255) * 100)) };
}

const GRAY = [0.2];
const COLOR = [1, 0.6, 0.2];

describe('a TIFF whose samples have an odd number of bits', () => {
  it.each([6, 10, 12, 14, 24, 32])('keeps its shade of gray: %d bits', async (bits) => {
    expect((await convert(tiff({ bits, pixel: GRAY, photometric: BLACK_IS_ZERO }))).color[0]).toBeCloseTo(20, -0.5);
  });

  it.each([
    [4, { planar: PIXELS }],
    [4, { planar: PLANES }],
    [10, { planar: PIXELS, compression: DEFLATE }],
    [12, { planar: PLANES, compression: DEFLATE }],
    [32, { planar: PIXELS }],
  ])('keeps its colors: %d bits, %o', async (bits, how) => {
    const { color } = await convert(tiff({ bits, pixel: COLOR, photometric: RGB, ...how }));
    expect(color.map((value) => Math.round(value / 5) * 5)).toEqual([100, 60, 20]);
  });

  it('is white where its samples are 0 if the photometric tag is WhiteIsZero', async () => {
    const { color } = await convert(tiff({ bits: 12, pixel: [0], photometric: WHITE_IS_ZERO }));
    expect(color[0]).toBe(100);
  });

  it('is rotated by its orientation', async () => {
    const { width, height } = await convert(
      tiff({ bits: 12, pixel: GRAY, photometric: BLACK_IS_ZERO, orientation: 6 }),
    );
    expect([width, height]).toEqual([HEIGHT, WIDTH]);
  });

  it('is refused when it is truncated', async () => {
    const whole = tiff({ bits: 12, pixel: GRAY, photometric: BLACK_IS_ZERO });
    await expect(convert(whole.subarray(0, -20))).rejects.toMatchObject({ code: 'processing_failed' });
  });
});

describe('uncompressedTiffHeader', () => {
  it.each([
    [1, null],
    [3, null],
    [3, Buffer.alloc(200, 1)],
  ] as const)('precedes %d samples of 16 bits in a TIFF that libvips reads', async (samples, profile) => {
    const pixels = Buffer.from(Uint16Array.from({ length: 3 * 2 * samples }, (_, index) => index * 1000).buffer);
    const header = uncompressedTiffHeader({ width: 3, height: 2, samples, orientation: 6, profile });
    const image = sharp(Buffer.concat([header, pixels]));
    expect(await image.metadata()).toMatchObject({
      width: 3,
      height: 2,
      channels: samples,
      depth: 'ushort',
      orientation: 6,
      ...(profile !== null && { icc: profile }),
    });
    const raw = image.toColourspace(samples === 1 ? 'grey16' : 'rgb16').raw({ depth: 'ushort' });
    expect((await raw.toBuffer()).equals(pixels)).toBe(profile === null);
  });
});
