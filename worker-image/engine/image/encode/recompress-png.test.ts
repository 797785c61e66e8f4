import { deflateSync, inflateSync } from 'node:zlib';
import sharp, { type PngOptions } from 'sharp';
import { describe, expect, it } from 'vitest';
import { makePngChunk, PNG_SIGNATURE, readPngChunks } from '#worker-image/engine/containers/png-chunks.ts';
import { recompressAnimatedPng } from '#worker-image/engine/image/encode/recompress-png.ts';

const never = { signal: new AbortController().signal };
const chunk = makePngChunk;
const numbered = (sequence: number, data: Buffer): Buffer => Buffer.concat([Buffer.from([0, 0, 0, sequence]), data]);
const stored = (rows: Buffer): Buffer => deflateSync(rows, { level: 0 });

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Rows of 99 gray pixels and a filter byte. */
const SIZE = { width: 99, height: 30 };
const ROWS = Buffer.alloc(3000, 7);

function sizeOf({ width, height }: Size): Buffer {
  const data = Buffer.alloc(8);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  return data;
}

function png(...chunks: readonly Buffer[]): Buffer {
  const header = Buffer.concat([sizeOf(SIZE), Buffer.from([8, 0, 0, 0, 0])]);
  return Buffer.concat([PNG_SIGNATURE, chunk('IHDR', header), ...chunks, chunk('IEND', Buffer.alloc(0))]);
}

const control = (sequence: number, size: Size): Buffer =>
  chunk('fcTL', numbered(sequence, Buffer.concat([sizeOf(size), Buffer.alloc(14)])));

/** An animation of two frames whose streams are split into chunks. */
function animation(rows = ROWS, second = Buffer.alloc(2000, 9), size: Size = { width: 99, height: 20 }): Buffer {
  const [first, last] = [stored(rows), stored(second)];
  return png(
    control(0, SIZE),
    chunk('IDAT', first.subarray(0, 100)),
    chunk('IDAT', first.subarray(100)),
    control(1, size),
    chunk('fdAT', numbered(2, last.subarray(0, 50))),
    chunk('fdAT', numbered(3, last.subarray(50))),
    chunk('tEXt', Buffer.from('kept')),
  );
}

const damaged = expect.objectContaining({ code: 'processing_failed' });

describe('recompressAnimatedPng', () => {
  it('joins and compresses the stream of each frame, and renumbers the chunks', async () => {
    const chunks = readPngChunks(await recompressAnimatedPng(never, animation())) ?? [];
    expect(chunks.map(({ type }) => type)).toEqual(['IHDR', 'fcTL', 'IDAT', 'fcTL', 'fdAT', 'tEXt', 'IEND']);
    const numbers = chunks.filter(({ type }) => type.startsWith('f')).map(({ data }) => data.readUInt32BE(0));
    expect(numbers).toEqual([0, 1, 2]);
    expect(inflateSync(chunks[2]?.data ?? Buffer.alloc(0)).equals(ROWS)).toBe(true);
    expect(inflateSync(chunks[4]?.data.subarray(4) ?? Buffer.alloc(0))).toHaveLength(2000);
    expect(chunks[2]?.data.length).toBeLessThan(100);
  });

  it('keeps a stream that does not become smaller', async () => {
    const packed = deflateSync(ROWS, { level: 9 });
    const file = png(chunk('IDAT', packed));
    expect((await recompressAnimatedPng(never, file)).equals(file)).toBe(true);
  });

  it.each<readonly [string, Buffer]>([
    ['no end chunk', animation().subarray(0, -12)],
    ['a damaged stream', png(chunk('IDAT', Buffer.from('no stream')))],
    ['a frame without its sequence number', png(chunk('fdAT', Buffer.from([0, 0])))],
    ['a frame control without a size', png(chunk('fcTL', Buffer.alloc(4)))],
    ['a still image that inflates to more than its size', animation(Buffer.alloc(3001))],
    ['a frame that inflates to more than its size', animation(ROWS, Buffer.alloc(2001))],
    ['a frame that is wider than the image', animation(ROWS, ROWS, { width: 100, height: 20 })],
    ['a frame without pixels', animation(ROWS, ROWS, { width: 0, height: 20 })],
    ['a truncated header', Buffer.concat([PNG_SIGNATURE, chunk('IHDR', Buffer.alloc(12)), png().subarray(33)])],
    ['an unknown color type', Buffer.concat([PNG_SIGNATURE, chunk('IHDR', Buffer.alloc(13, 1)), png().subarray(33)])],
  ])('refuses a file with %s', async (_what, file) => {
    await expect(recompressAnimatedPng(never, file)).rejects.toEqual(damaged);
  });

  it.each<readonly [string, 'b-w' | 'grey16' | 'srgb' | 'rgb16', 1 | 2 | 3 | 4, PngOptions]>([
    ['gray', 'b-w', 1, {}],
    ['gray of 16 bits', 'grey16', 1, {}],
    ['gray with opacity', 'b-w', 2, {}],
    ['gray of 16 bits with opacity', 'grey16', 2, {}],
    ['color', 'srgb', 3, {}],
    ['color of 16 bits', 'rgb16', 3, {}],
    ['color with opacity', 'srgb', 4, {}],
    ['color of 16 bits with opacity', 'rgb16', 4, {}],
    ['palette of 1 bit', 'srgb', 3, { palette: true, colours: 2 }],
    ['palette of 2 bits', 'srgb', 3, { palette: true, colours: 4 }],
    ['palette of 4 bits', 'srgb', 3, { palette: true, colours: 16 }],
    ['palette of 8 bits', 'srgb', 3, { palette: true, colours: 256 }],
  ])(
    'limits the pixels of each size and coding to those of the header: %s',
    async (_what, space, channels, options) => {
      for (const [width, height] of [
        [1, 1],
        [3, 2],
        [5, 9],
        [37, 11],
      ] as const) {
        const samples = Buffer.from(Array.from({ length: width * height * channels }, (_, at) => (at * 37) & 255));
        for (const progressive of [false, true]) {
          const file = await sharp(samples, { raw: { width, height, channels } })
            .toColourspace(space)
            .png({ ...options, progressive })
            .toBuffer();
          await expect(recompressAnimatedPng(never, file)).resolves.toBeInstanceOf(Buffer);
          await expect(recompressAnimatedPng(never, withOneMoreByte(file))).rejects.toEqual(damaged);
        }
      }
    },
  );

  it('ends with the reason of an abort, between two frames', async () => {
    const controller = new AbortController();
    const result = recompressAnimatedPng(controller, animation());
    setImmediate(() => controller.abort(new Error('enough')));
    await expect(result).rejects.toThrow('enough');
  });
});

function withOneMoreByte(file: Buffer): Buffer {
  const chunks = readPngChunks(file) ?? [];
  const pixels = inflateSync(Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)));
  const others = chunks.filter(({ type }) => type !== 'IDAT').map(({ whole }) => whole);
  const longer = chunk('IDAT', stored(Buffer.concat([pixels, Buffer.alloc(1)])));
  return Buffer.concat([PNG_SIGNATURE, ...others.toSpliced(-1, 0, longer)]);
}
