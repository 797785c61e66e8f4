import { inflateSync } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { readPngImage } from '#worker-image/engine/image/encode/png-image-data.ts';

const image = sharp({ create: { width: 5, height: 3, channels: 3, background: '#123456' } });

describe('readPngImage', () => {
  it('returns size, channels, depth and the compressed rows with their filter bytes', async () => {
    const { data, ...facts } = readPngImage(await image.clone().png().toBuffer());
    expect(facts).toEqual({ width: 5, height: 3, channels: 3, bits: 8 });
    expect(inflateSync(data)).toHaveLength(3 * (1 + 5 * 3));
  });

  it('reads gray', async () => {
    expect(readPngImage(await image.clone().toColourspace('b-w').png().toBuffer())).toMatchObject({ channels: 1 });
  });

  it.each([
    ['transparency', image.clone().ensureAlpha(0.5).png()],
    ['a palette', image.clone().png({ palette: true })],
    ['interlace', image.clone().png({ progressive: true })],
  ])('throws for a PNG with %s, which a PDF does not read', async (_what, pipeline) => {
    const png = await pipeline.toBuffer();
    expect(() => readPngImage(png)).toThrow('color type');
  });

  it('throws for a truncated PNG', async () => {
    const png = await image.clone().png().toBuffer();
    expect(() => readPngImage(png.subarray(0, -1))).toThrow('not complete');
    expect(() => readPngImage(Buffer.alloc(0))).toThrow('not complete');
  });
});
