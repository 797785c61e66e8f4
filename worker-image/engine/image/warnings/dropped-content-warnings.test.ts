import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { Format } from '#crds/catalogue/formats.ts';
import type { ImageTarget } from '#worker-image/engine/image/image-formats.ts';
import type { Picture, PixelSource } from '#worker-image/engine/image/picture.ts';
import { droppedContentWarnings } from '#worker-image/engine/image/warnings/dropped-content-warnings.ts';
import { GAIN_MAP_WARNING } from '#worker-image/engine/image/warnings/gain-map.ts';

interface Input {
  readonly format?: Format;
  readonly frames?: number;
  /** Frames that sharp reads. */
  readonly readFrames?: number;
  readonly pages?: number;
  readonly hasGainMap?: boolean;
  /** Alpha of the two pixels. */
  readonly alpha?: readonly [number, number];
}

function warningsFor(target: ImageTarget, input: Input): Promise<string[]> {
  const { format = 'png', frames = 1, readFrames = 1, pages = 1, hasGainMap = false, alpha = [255, 255] } = input;
  const pixels = Buffer.from(alpha.flatMap((value) => [9, 9, 9, value]));
  const picture = { file: { format }, frames, hasGainMap: () => Promise.resolve(hasGainMap) };
  const source = {
    metadata: { hasAlpha: true },
    frames: readFrames,
    pages,
    start: () => sharp(pixels, { raw: { width: 2, height: 1, channels: 4 } }),
  };
  return droppedContentWarnings({
    picture: picture as unknown as Picture,
    source: source as unknown as PixelSource,
    target,
  });
}

describe('droppedContentWarnings', () => {
  it.each<readonly [string, ImageTarget, Input]>([
    ['a still image', 'jpg', {}],
    ['an animation that the target keeps', 'webp', { frames: 5, readFrames: 5 }],
    ['an opaque GIF', 'gif', {}],
    ['full transparency in a GIF', 'gif', { alpha: [0, 255] }],
    ['partial transparency that the target keeps', 'png', { alpha: [128, 255] }],
    ['a GIF that stays one', 'gif', { format: 'gif', alpha: [128, 255] }],
  ])('returns none for %s', async (_what, target, input) => {
    expect(await warningsFor(target, input)).toEqual([]);
  });

  it.each<readonly [string, ImageTarget, Input, string]>([
    ['an animation in a format of still images', 'jpg', { frames: 5, readFrames: 5 }, '5 frames'],
    ['an animation of which sharp reads one frame', 'webp', { frames: 5 }, '5 frames'],
    ['further pages', 'png', { format: 'tiff', pages: 3 }, '3 pages'],
    ['the faintest transparency in a GIF', 'gif', { alpha: [1, 255] }, 'transparent'],
    ['nearly full opacity in a GIF', 'gif', { alpha: [254, 255] }, 'transparent'],
    ['a gain map', 'jpg', { hasGainMap: true }, GAIN_MAP_WARNING],
  ])('returns one for %s', async (_what, target, input, part) => {
    expect(await warningsFor(target, input)).toEqual([expect.stringContaining(part)]);
  });

  it('refuses a file whose pixels cannot be decoded', async () => {
    const source = { metadata: { hasAlpha: true }, frames: 1, pages: 1, start: () => sharp(Buffer.from('damaged')) };
    const picture = { file: { format: 'png' }, frames: 1, hasGainMap: () => Promise.resolve(false) };
    const warnings = droppedContentWarnings({
      picture: picture as unknown as Picture,
      source: source as unknown as PixelSource,
      target: 'gif',
    });
    await expect(warnings).rejects.toMatchObject({ code: 'processing_failed' });
  });
});
