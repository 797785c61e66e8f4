import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { describe, expect, it } from 'vitest';
import { outputOf } from '#test/fixtures/encoder-output.ts';
import { engineDeps, freshDirectory } from '#test/fixtures/engine-work.ts';
import { encodeWebp, exactWebpSettings, webpSettings } from '#worker-image/engine/image/encode/encode-webp.ts';
import { encoderQuality, lossyQuality } from '#worker-image/engine/image/encode/quality-scale.ts';
import { openPicture } from '#worker-image/engine/image/loaders/open-picture.ts';

describe('webpSettings', () => {
  it.each([
    ['graphic', true],
    ['photo', false],
  ] as const)('for a %s use sharp subsampling: %j', (content, isSharp) => {
    const settings = webpSettings({ quality: 75, content, encoders: encoderQuality(75, content) });
    expect(settings.smartSubsample).toBe(isSharp);
  });
});

describe('exactWebpSettings', () => {
  it('are lossless at quality 100 only', () => {
    expect(exactWebpSettings({ quality: 100 })).toMatchObject({ lossless: true });
    expect(exactWebpSettings({ quality: 99 })).toMatchObject({ nearLossless: true });
  });
});

/** Returns a graphic: bars of one color on white. */
function bars(background = '#fff'): Sharp {
  const bar = { create: { width: 3, height: 60, channels: 3 as const, background: '#e02020' } };
  const page = sharp({ create: { width: 400, height: 100, channels: 4, background } });
  return page.composite(Array.from({ length: 30 }, (_, at) => ({ input: bar, left: 20 + at * 12, top: 20 })));
}

/** Returns a graphic whose right half is a photo. */
function barsOverGrain(): Sharp {
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
  const grain = { create: { width: 180, height: 100, channels: 3 as const, background: '#888', noise } };
  return bars().composite([
    ...Array.from({ length: 16 }, (_, at) => ({
      input: { create: { width: 3, height: 60, channels: 3 as const, background: '#e02020' } },
      left: 10 + at * 12,
      top: 20,
    })),
    { input: grain, left: 220, top: 0 },
  ]);
}

/** Returns bars on three quarters of a megapixel, some columns of which are grain. */
async function manyBars(grainWidth: number): Promise<Sharp> {
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
  const grain = { create: { width: grainWidth, height: 600, channels: 3 as const, background: '#888', noise } };
  const page = sharp({ create: { width: 1200, height: 600, channels: 3, background: '#fff' } });
  return page.composite([
    { input: await bars().png().toBuffer(), tile: true },
    { input: grain, left: 1200 - grainWidth, top: 0 },
  ]);
}

describe('encodeWebp', () => {
  it('writes every sample of a graphic at quality 100', async () => {
    const output = await outputOf(bars(), { quality: 100 });
    await encodeWebp(engineDeps(), output);
    const samples = await sharp(output.path).removeAlpha().raw().toBuffer();
    expect(samples.equals(await output.pipeline().removeAlpha().raw().toBuffer())).toBe(true);
  });

  it.each([
    ['losslessly for bars of one color', bars(), 75, true],
    ['lossily for bars over a gradient with grain', barsOverGrain(), 75, false],
    ['lossily for bars over a gradient with grain', barsOverGrain(), 30, false],
    ['losslessly for bars on nothing', bars('#00000000'), 50, true],
  ])('writes one file %s at quality %i', async (_what, image, quality, isLossless) => {
    const output = await outputOf(image, { quality });
    const target = await lossyQuality(output.source, quality);
    expect(target.content).toBe('graphic');
    await encodeWebp(engineDeps(), output);
    expect(await readdir(dirname(output.path))).toEqual(['input.png', 'output']);
    const file = await readFile(output.path);
    expect(file.subarray(12, 16).toString()).toBe(isLossless ? 'VP8L' : 'VP8 ');
    const lossy = await output.pipeline().webp(webpSettings(target)).toBuffer();
    if (isLossless) expect(file.length).toBeLessThan(lossy.length);
    else expect(file.equals(lossy)).toBe(true);
  });

  it.each([
    ['losslessly', 1, 'VP8L'],
    ['lossily', 540, 'VP8 '],
  ])('writes a large graphic %s with %i columns of grain', async (_how, grainWidth, chunk) => {
    const output = await outputOf(await manyBars(grainWidth), { quality: 75 });
    await encodeWebp(engineDeps(), output);
    expect((await readFile(output.path)).toString('latin1', 12, 16)).toBe(chunk);
  });

  it('writes the same pixels and opacity for few colors', async () => {
    const output = await outputOf(bars('#20406080'), { quality: 90 });
    await encodeWebp(engineDeps(), output);
    const samples = await sharp(output.path).ensureAlpha().raw().toBuffer();
    expect(samples.equals(await output.pipeline().ensureAlpha().raw().toBuffer())).toBe(true);
  });

  it.each(['none', 'all'])('keeps %s of the metadata that the pipeline keeps in a lossless file', async (kept) => {
    const tagged = bars()
      .withIccProfile('p3')
      .withExif({ IFD0: { Make: 'Planted' } })
      .withXmp('<x:xmpmeta/>');
    const { source, ...output } = await outputOf(tagged);
    const start = (): Sharp => source.start({ animated: false, keepProfile: true });
    const pipeline = kept === 'all' ? () => start().keepMetadata() : start;
    await encodeWebp(engineDeps(), { ...output, source, pipeline });
    const { icc, exif, xmp } = await sharp(output.path).metadata();
    const written = [icc, exif, xmp].filter((value) => value !== undefined);
    expect(written).toHaveLength(kept === 'all' ? 3 : 0);
    if (kept === 'all') expect(exif?.includes('Planted')).toBe(true);
  });

  /** Encodes the frames as a GIF, and that as a WebP; returns its path. */
  async function encodeAnimation(frames: readonly Buffer[]): Promise<string> {
    const gif = join(await freshDirectory(), 'input.gif');
    await sharp([...frames], { join: { animated: true } })
      .gif({ loop: 0, delay: frames.map(() => 100) })
      .toFile(gif);
    const directory = dirname(gif);
    const picture = await openPicture(engineDeps(), { path: gif, format: 'gif', directory, maxPixels: 1_000_000 });
    const source = await picture.decode(engineDeps());
    const pipeline = () => source.start({ animated: true, keepProfile: false });
    const path = join(directory, 'output');
    const output = await outputOf(bars());
    await encodeWebp(engineDeps(), { ...output, picture, source, pipeline, path, size: picture.size });
    return path;
  }

  it('leaves one file of all frames for an animated graphic', async () => {
    const path = await encodeAnimation(
      await Promise.all(['#fff', '#eef'].map((color) => bars(color).png().toBuffer())),
    );
    expect(await readdir(dirname(path))).toEqual(['input.gif', 'output']);
    expect((await sharp(path, { animated: true }).metadata()).pages).toBe(2);
  });

  it('marks an animation as transparent whose opaque frames do not cover the canvas', async () => {
    const sprite = { create: { width: 8, height: 8, channels: 4, background: '#f40' } } as const;
    const canvas = sharp({ create: { width: 40, height: 20, channels: 4, background: '#0000' } });
    const frames = [4, 24].map((left) =>
      canvas
        .clone()
        .composite([{ input: sprite, left, top: 6 }])
        .png()
        .toBuffer(),
    );
    const path = await encodeAnimation(await Promise.all(frames));
    const webp = await readFile(path);
    expect(webp.toString('latin1', 12, 16)).toBe('VP8X');
    expect((webp[20] ?? 0) & 0x10).toBe(0x10);
    const { data, info } = await sharp(path).raw().toBuffer({ resolveWithObject: true });
    expect(info.channels).toBe(4);
    expect(data[3]).toBe(0);
  });
});
