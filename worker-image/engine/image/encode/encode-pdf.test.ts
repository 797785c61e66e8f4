import { readFile } from 'node:fs/promises';
import { inflateSync } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { outputOf, outputOfFile } from '#test/fixtures/encoder-output.ts';
import { engineDeps } from '#test/fixtures/engine-work.ts';
import { embedPng, encodePdf } from '#worker-image/engine/image/encode/encode-pdf.ts';
import { stripJpeg } from '#worker-image/engine/image/strip/strip-jpeg.ts';

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
    [600, '[0 0 24 12]'],
    // Limited to 72 to 2,400 pixels per inch.
    [20, '[0 0 200 100]'],
    [10_000, '[0 0 6 3]'],
  ])('writes a page in the size of an image of %d pixels per inch', async (density, page) => {
    const create = { width: 200, height: 100, channels: 3 as const, background: '#258' };
    const output = await outputOf(sharp({ create }).withMetadata({ density }));
    await encodePdf(engineDeps(), output);
    expect(await readFile(output.path, 'latin1')).toContain(`/MediaBox ${page}`);
  });

  it('writes a page for pixels that are not square, in the shape that they describe', async () => {
    const output = await outputOf(sharp({ create: { width: 204, height: 98, channels: 3, background: '#258' } }));
    await encodePdf(engineDeps(), { ...output, source: { ...output.source, resolution: { x: 204, y: 98 } } });
    expect(await readFile(output.path, 'latin1')).toContain('/MediaBox [0 0 72 72]');
  });

  it('limits the longest side of a page to what PDF readers show', async () => {
    const output = await outputOf(sharp({ create: { width: 28_800, height: 20, channels: 3, background: '#258' } }));
    await encodePdf(engineDeps(), output);
    expect(await readFile(output.path, 'latin1')).toContain('/MediaBox [0 0 14400 10]');
  });

  it('embeds a JPEG without location and without data behind its end marker', async () => {
    const create = { width: 20, height: 10, channels: 3 as const, background: '#258' };
    const jpeg = await sharp({ create })
      .withExif({ IFD0: { Make: 'Planted' } })
      .jpeg()
      .toBuffer();
    const output = await outputOfFile('jpg', Buffer.concat([jpeg, Buffer.from('a video')]));
    await encodePdf(engineDeps(), output);
    const pdf = await readFile(output.path);
    expect(jpeg.includes('Planted')).toBe(true);
    expect([pdf.includes(stripJpeg(jpeg)), pdf.includes('Planted'), pdf.includes('a video')]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('embeds a JPEG as it is when zeros replace its end marker', async () => {
    const create = { width: 20, height: 10, channels: 3 as const, background: '#258' };
    const jpeg = await sharp({ create }).jpeg().toBuffer();
    const output = await outputOfFile('jpg', Buffer.concat([jpeg.subarray(0, -2), Buffer.alloc(8)]));
    await encodePdf(engineDeps(), output);
    expect((await readFile(output.path)).includes(await readFile(output.picture.file.path))).toBe(true);
  });

  it('writes an image without colors in gray', async () => {
    const output = await outputOf(
      sharp({ create: { width: 20, height: 10, channels: 3, background: '#888' } }).toColourspace('b-w'),
    );
    await encodePdf(engineDeps(), output);
    const pdf = await readFile(output.path, 'latin1');
    expect([pdf.includes('/DeviceGray'), pdf.includes('/DeviceRGB')]).toEqual([true, false]);
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
