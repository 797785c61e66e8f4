import { rename, rm, stat } from 'node:fs/promises';
import type { Sharp } from 'sharp';
import {
  exactWebpSettings,
  webpSettings,
  type TargetQuality,
} from '#worker-image/engine/image/encode/encoder-settings.ts';

interface WebpEncoding {
  readonly pipeline: () => Sharp;
  readonly path: string;
  readonly target: TargetQuality;
  /** Size of all frames, in pixels. */
  readonly pixels: number;
}

/** Maximum size of a graphic that is also encoded nearly losslessly, in pixels. Larger ones take seconds. */
const MAX_EXACT_PIXELS = 4_000_000;

/** Writes WebP. A graphic is encoded both lossily and nearly losslessly, and the smaller file is kept. */
export async function encodeWebp({ pipeline, path, target, pixels }: WebpEncoding): Promise<void> {
  await pipeline().webp(webpSettings(target)).toFile(path);
  if (target.content !== 'graphic' || pixels > MAX_EXACT_PIXELS) return;
  const exact = `${path}.exact`;
  await pipeline().webp(exactWebpSettings(target)).toFile(exact);
  const [lossySize, exactSize] = await Promise.all([stat(path), stat(exact)]);
  await (exactSize.size < lossySize.size || target.quality === 100 ? rename(exact, path) : rm(exact));
}
