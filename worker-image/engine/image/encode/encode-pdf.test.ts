import { inflateSync } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { embedPng } from '#worker-image/engine/image/encode/encode-pdf.ts';

const image = sharp({ create: { width: 5, height: 3, channels: 3, background: '#123456' } });

describe('embedPng', () => {
  it('returns size, channels, depth and the compressed rows with their filter bytes', async () => {
    const { data, ...facts } = embedPng(await image.clone().png().toBuffer());
    expect(facts).toMatchObject({
      width: 5,
      height: 3,
      channels: 3,
      entries: expect.stringContaining('/BitsPerComponent 8 '),
    });
    expect(inflateSync(data)).toHaveLength(3 * (1 + 5 * 3));
  });

  it('reads gray', async () => {
    expect(embedPng(await image.clone().toColourspace('b-w').png().toBuffer())).toMatchObject({ channels: 1 });
  });

  it.each([
    ['transparency', image.clone().ensureAlpha(0.5).png()],
    ['a palette', image.clone().png({ palette: true })],
    ['interlace', image.clone().png({ progressive: true })],
  ])('throws for a PNG with %s, which a PDF does not read', async (_what, pipeline) => {
    const png = await pipeline.toBuffer();
    expect(() => embedPng(png)).toThrow('color type');
  });

  it('throws for a truncated PNG', async () => {
    const png = await image.clone().png().toBuffer();
    expect(() => embedPng(png.subarray(0, -1))).toThrow('not complete');
    expect(() => embedPng(Buffer.alloc(0))).toThrow('not complete');
  });
});
