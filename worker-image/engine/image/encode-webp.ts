import { rename, rm, stat } from 'node:fs/promises';
import type { Sharp } from 'sharp';
import { exactWebpSettings, webpSettings, type Look } from '#worker-image/engine/image/encoder-settings.ts';

interface WebpWork {
  readonly pipeline: () => Sharp;
  readonly path: string;
  readonly look: Look;
  /** Of all frames. */
  readonly pixels: number;
}

/** Larger graphics are not tried both ways: the exact way takes seconds there. */
const EXACT_PIXELS = 4_000_000;

/** WebP; of a graphic the smaller one of a lossy and a nearly exact file. */
export async function encodeWebp({ pipeline, path, look, pixels }: WebpWork): Promise<void> {
  await pipeline().webp(webpSettings(look)).toFile(path);
  if (look.content !== 'graphic' || pixels > EXACT_PIXELS) return;
  const exact = `${path}.exact`;
  await pipeline().webp(exactWebpSettings(look)).toFile(exact);
  const [lossySize, exactSize] = await Promise.all([stat(path), stat(exact)]);
  await (exactSize.size < lossySize.size || look.quality === 100 ? rename(exact, path) : rm(exact));
}
