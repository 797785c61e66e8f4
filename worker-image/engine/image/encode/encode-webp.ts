import { rename, rm, stat } from 'node:fs/promises';
import type { WebpOptions } from 'sharp';
import type { Encoder } from '#worker-image/engine/image/encode/encoder.ts';
import { lossyQuality, type LossyQuality } from '#worker-image/engine/image/encode/quality-scale.ts';

/** Maximum size of a graphic that is also encoded nearly losslessly, in pixels of all frames. Larger ones take seconds. */
const MAX_EXACT_PIXELS = 4_000_000;

/** Writes WebP. A graphic is encoded both lossily and nearly losslessly, and the smaller file is kept. */
export const encodeWebp: Encoder = async (_deps, { source, size, quality, pipeline, path }) => {
  const target = await lossyQuality(source, quality);
  await pipeline().webp(webpSettings(target)).toFile(path);
  if (target.content !== 'graphic' || size.width * size.height * source.frames > MAX_EXACT_PIXELS) return;
  const exact = `${path}.exact`;
  await pipeline().webp(exactWebpSettings(target)).toFile(exact);
  const [lossySize, exactSize] = await Promise.all([stat(path), stat(exact)]);
  await (exactSize.size < lossySize.size || quality === 100 ? rename(exact, path) : rm(exact));
};

/** Returns the settings for WebP, which has no full chroma. Sharp subsampling keeps colored text readable, at twice the time. */
export function webpSettings({ content, encoders }: LossyQuality): WebpOptions {
  return { quality: encoders.webp, effort: 4, smartSubsample: content === 'graphic' };
}

/** Returns the second settings for a graphic: few colors and flat areas are often smaller when nearly lossless. */
export function exactWebpSettings({ quality }: Pick<LossyQuality, 'quality'>): WebpOptions {
  return quality === 100 ? { lossless: true, effort: 2 } : { nearLossless: true, quality: 60, effort: 2 };
}
