import sharp, { type Sharp } from 'sharp';
import { describe, expect, it } from 'vitest';
import { outputOf } from '#test/fixtures/encoder-output.ts';
import { engineDeps } from '#test/fixtures/engine-work.ts';
import { encodePng } from '#worker-image/engine/image/encode/encode-png.ts';

const flat = (): Sharp => sharp({ create: { width: 60, height: 40, channels: 3, background: '#258' } });
const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
const grain = (): Sharp => sharp({ create: { width: 200, height: 150, channels: 3, background: '#888', noise } });

describe('encodePng', () => {
  it.each<[string, () => Sharp, { quality: number; lossless?: boolean }, boolean]>([
    ['few colors', flat, { quality: 75 }, true],
    ['few colors at quality 100', flat, { quality: 100 }, false],
    ['few colors of a lossless output', flat, { quality: 75, lossless: true }, false],
    ['noise, whose palette would be visible', grain, { quality: 80 }, false],
    ['a photo above the quality that a palette reaches', grain, { quality: 81 }, false],
  ])('writes a palette for %s, %o: %j', async (_what, image, how, isPalette) => {
    const output = await outputOf(image(), how);
    await encodePng(engineDeps(), output);
    expect(await sharp(output.path).metadata()).toMatchObject({ format: 'png', isPalette });
    if (isPalette) return;
    const samples = await sharp(output.path).raw().toBuffer();
    expect(samples.equals(await output.pipeline().raw().toBuffer())).toBe(true);
  });
});

/** Returns a page with text-like strokes in many colors and opacities. */
function strokes(colors: number, opacity: number): Sharp {
  const [width, height] = [300, 200];
  const samples = Buffer.alloc(width * height * 4, 255);
  for (let at = 0; at < width * height; at += 1) {
    if (at % 7 > 1) continue;
    const color = (at * 2_654_435) % colors;
    samples.set([(color * 37) & 255, (color * 11) & 255, (color * 101) & 255, opacity], at * 4);
  }
  return sharp(samples, { raw: { width, height, channels: 4 } });
}

describe('encodePng of a graphic', () => {
  it.each([
    [1, 255],
    [16, 255],
    [31, 128],
    [31, 0],
  ])('keeps every pixel of %i colors with opacity %i', async (colors, opacity) => {
    const output = await outputOf(strokes(colors, opacity));
    expect(await encodePng(engineDeps(), output)).toMatchObject({ undecoded: 'nothing' });
    const rgba = (from: Sharp): Promise<Buffer> => from.toColourspace('srgb').ensureAlpha().raw().toBuffer();
    const [wanted, written] = await Promise.all([rgba(output.pipeline()), rgba(sharp(output.path))]);
    expect(hideTransparent(written).equals(hideTransparent(wanted))).toBe(true);
  });

  it.each([
    [1, 1],
    [8, 8],
    [16, 16],
    [300, 1],
  ])('keeps every pixel of two colors in %i × %i pixels', async (width, height) => {
    const samples = Buffer.from(Array.from({ length: width * height }, (_, at) => (at % width < width / 2 ? 0 : 255)));
    const output = await outputOf(sharp(samples, { raw: { width, height, channels: 1 } }).toColourspace('b-w'));
    await encodePng(engineDeps(), output);
    const gray = (from: Sharp): Promise<Buffer> => from.toColourspace('b-w').raw().toBuffer();
    expect(await gray(sharp(output.path))).toEqual(samples);
  });

  it.each([255, 128])('writes 3000 colors of opacity %i with a palette', async (opacity) => {
    const output = await outputOf(strokes(3000, opacity));
    expect(await encodePng(engineDeps(), output)).toMatchObject({ undecoded: 'nothing' });
    expect(await sharp(output.path).metadata()).toMatchObject({ isPalette: true, hasAlpha: opacity < 255 });
  });
});

/** Sets the colors of fully transparent pixels to 0. */
function hideTransparent(samples: Buffer): Buffer {
  for (let at = 0; at < samples.length; at += 4) if (samples[at + 3] === 0) samples.fill(0, at, at + 3);
  return samples;
}
