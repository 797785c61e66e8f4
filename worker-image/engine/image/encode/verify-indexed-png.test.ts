import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { makePngChunk, PNG_SIGNATURE, readPngChunks } from '#worker-image/engine/containers/png-chunks.ts';
import { encodeIndexedPng, type IndexedImage } from '#worker-image/engine/image/encode/indexed-png.ts';
import { requirePixels } from '#worker-image/engine/image/encode/verify-indexed-png.ts';

/** Returns an image of opaque and of transparent colors. */
function imageOf(colors: number, { width, height } = { width: 37, height: 11 }): IndexedImage {
  const all = Uint32Array.from({ length: colors }, (_, at) => (((255 - (at % 3)) << 24) | ((at + 1) * 65_000)) >>> 0);
  const pixels = Uint16Array.from({ length: width * height }, (_, at) => (at * 7) % colors);
  const palette = { colors: all, entries: Uint8Array.from(all.keys()), error: 0 };
  return { size: { width, height }, pixels, palette, metadata: [] };
}

/** Replaces the data of a chunk; its checksum is right. */
function withChunk(png: Buffer, type: string, change: (data: Buffer) => Buffer): Buffer {
  const chunks = (readPngChunks(png) ?? []).map((chunk) =>
    chunk.type === type ? makePngChunk(type, change(Buffer.from(chunk.data))) : chunk.whole,
  );
  return Buffer.concat([PNG_SIGNATURE, ...chunks]);
}

function withByte(data: Buffer, at: number): Buffer {
  data[at] = (data[at] ?? 0) ^ 1;
  return data;
}

describe('requirePixels', () => {
  it.each([1, 2, 3, 4, 5, 16, 17, 256])('accepts what was written of %i colors', async (colors) => {
    const image = imageOf(colors);
    const png = await encodeIndexedPng(image, 6);
    expect(() => requirePixels(png, image)).not.toThrow();
  });

  it('accepts rows that are longer than one part', async () => {
    const image = imageOf(200, { width: 5000, height: 3 });
    const png = await encodeIndexedPng(image, 6);
    expect(() => requirePixels(png, image)).not.toThrow();
  });

  it.each([
    [1, 1],
    [8, 8],
    [16, 16],
    [300, 1],
    [1, 300],
  ])('accepts two colors in %i × %i pixels', async (width, height) => {
    const image = imageOf(2, { width, height });
    const png = await encodeIndexedPng(image, 9);
    expect(() => requirePixels(png, image)).not.toThrow();
  });

  it.each([2, 4, 16, 256])('refuses one other pixel of %i colors, wherever it is', async (colors) => {
    const image = imageOf(colors);
    const png = await encodeIndexedPng(image, 6);
    for (const at of [0, 36, 37, 200, image.pixels.length - 1]) {
      const pixels = image.pixels.with(at, ((image.pixels[at] ?? 0) + 1) % colors);
      expect(() => requirePixels(png, { ...image, pixels })).toThrow(/differs/);
    }
  });

  it.each([
    ['color', 'PLTE', 7, /differs/],
    ['opacity', 'tRNS', 1, /differs/],
    ['width', 'IHDR', 3, /header/],
    ['color type', 'IHDR', 9, /header/],
    ['byte of the compressed pixels', 'IDAT', 30, /./],
  ])('refuses another %s', async (_what, type, at, message) => {
    const image = imageOf(20);
    const png = withChunk(await encodeIndexedPng(image, 6), type, (data) => withByte(data, at));
    expect(() => requirePixels(png, image)).toThrow(message);
  });

  it.each([
    ['too few rows', 10, 0, /bytes of pixels/],
    ['too many rows', 12, 0, /./],
    ['a filter', 11, 1, /filter/],
  ])('refuses %s', async (_what, height, filter, message) => {
    const image = imageOf(20);
    const rows = Buffer.alloc(38 * height, filter);
    const png = withChunk(await encodeIndexedPng(image, 6), 'IDAT', () => deflateSync(rows));
    expect(() => requirePixels(png, image)).toThrow(message);
  });

  it('refuses a wrong checksum and a truncated file', async () => {
    const image = imageOf(20);
    const png = await encodeIndexedPng(image, 6);
    expect(() => requirePixels(withByte(Buffer.from(png), png.length - 1), image)).toThrow(/checksum/);
    expect(() => requirePixels(png.subarray(0, -20), image)).toThrow(/truncated/);
  });
});
