import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { readPngChunks } from '#worker-image/engine/containers/png-chunks.ts';
import { encodeIndexedPng } from '#worker-image/engine/image/encode/indexed-png.ts';

/** Returns an image whose pixels use the colors in turn. */
function imageOf(colors: Uint32Array, size: { width: number; height: number }): Parameters<typeof encodeIndexedPng>[0] {
  const pixels = Uint16Array.from({ length: size.width * size.height }, (_, at) => (at * 7) % colors.length);
  return { size, pixels, palette: { colors, entries: Uint8Array.from(colors.keys()), error: 0 }, metadata: [] };
}

async function decode(png: Buffer): Promise<Uint32Array> {
  const samples = await sharp(png).toColourspace('srgb').ensureAlpha().raw().toBuffer();
  return new Uint32Array(Uint8Array.from(samples).buffer);
}

describe('encodeIndexedPng', () => {
  it.each([
    [1, 1],
    [2, 1],
    [3, 2],
    [4, 2],
    [5, 4],
    [16, 4],
    [17, 8],
    [256, 8],
  ])('writes the pixels of %i colors with %i bits each', async (size, bits) => {
    const colors = Uint32Array.from({ length: size }, (_, at) => (0xff000000 | ((at + 1) * 65_000)) >>> 0);
    const image = imageOf(colors, { width: 37, height: 11 });
    const png = await encodeIndexedPng(image, 9);
    expect((await sharp(png).metadata()).bitsPerSample).toBe(bits);
    expect(await decode(png)).toEqual(Uint32Array.from(image.pixels, (color) => colors[color] ?? 0));
  });

  it('writes opacities, and none for opaque colors', async () => {
    const colors = Uint32Array.of(0xff0000ff, 0x80123456, 0, 0xff00ff00, 0x01ffffff);
    const image = imageOf(colors, { width: 9, height: 5 });
    const png = await encodeIndexedPng(image, 0);
    expect(await decode(png)).toEqual(Uint32Array.from(image.pixels, (color) => colors[color] ?? 0));
    const transparency = readPngChunks(png)?.find(({ type }) => type === 'tRNS');
    expect(transparency?.data).toEqual(Buffer.from([0, 1, 0x80]));
  });

  it('leaves out entries that no color has', async () => {
    const image = imageOf(Uint32Array.of(0xff0000ff, 0xff00ff00, 0xffff0000), { width: 8, height: 1 });
    const entries = Uint8Array.of(0, 2, 2);
    const png = await encodeIndexedPng({ ...image, palette: { ...image.palette, entries } }, 9);
    expect(readPngChunks(png)?.find(({ type }) => type === 'PLTE')?.data).toHaveLength(6);
  });
});
