/** PNG, with a palette where its error is invisible, otherwise lossless. */
import type { Encoder } from '#worker-image/engine/image/encode/encoder.ts';
import { writePalettePng } from '#worker-image/engine/image/encode/palette.ts';
import { classifyImage } from '#worker-image/engine/image/encode/quality-scale.ts';

/** Maximum quality that 256 colors can reach for a photo. */
const MAX_PALETTE_QUALITY = 80;
/** Writes a palette PNG when its error stays within the quality's limit, else a lossless one. */
export const encodePng: Encoder = async (_deps, { source, quality, lossless, pipeline, path }) => {
  const content = lossless || quality === 100 ? null : await classifyImage(source);
  if (content === 'graphic' || (content === 'photo' && quality <= MAX_PALETTE_QUALITY)) {
    if (await writePalettePng({ pipeline, quality, path, content, compressionLevel: 9 })) return null;
  }
  await pipeline().png({ compressionLevel: 9 }).toFile(path);
  return null;
};
