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
