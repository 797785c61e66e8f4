import { readFile } from 'node:fs/promises';
import { inflateSync } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { outputOf } from '#test/fixtures/encoder-output.ts';
import { engineDeps } from '#test/fixtures/engine-work.ts';
import { embedPng, encodePdf } from '#worker-image/engine/image/encode/encode-pdf.ts';

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

describe('encodePdf', () => {
  it.each([
    [144, '[0 0 100 50]'],
    // Limited to 72 to 300 pixels per inch.
    [20, '[0 0 200 100]'],
    [2000, '[0 0 48 24]'],
  ])('writes a page in the size of an image of %d pixels per inch', async (density, page) => {
    const create = { width: 200, height: 100, channels: 3 as const, background: '#258' };
    const output = await outputOf(sharp({ create }).withMetadata({ density }));
    await encodePdf(engineDeps(), output);
    expect(await readFile(output.path, 'latin1')).toContain(`/MediaBox ${page}`);
  });

  it.each([
    ['transparency as a soft mask', '#22558880', true],
    ['no mask for an opaque image', '#225588ff', false],
  ])('writes %s', async (_what, background, hasMask) => {
    const output = await outputOf(sharp({ create: { width: 20, height: 10, channels: 4, background } }));
    await encodePdf(engineDeps(), output);
    const pdf = await readFile(output.path, 'latin1');
    expect(pdf.includes('/SMask')).toBe(hasMask);
    expect(pdf.trimEnd().endsWith('%%EOF')).toBe(true);
  });
});
