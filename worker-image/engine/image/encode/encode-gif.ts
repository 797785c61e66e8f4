import type { GifOptions } from 'sharp';
import { writeWhole } from '#worker-image/engine/written-file.ts';
import type { Encoder } from '#worker-image/engine/image/encode/encoder.ts';

/** Minimum quality at which a GIF keeps its palette. */
const MIN_OWN_PALETTE_QUALITY = 90;

export const encodeGif: Encoder = async (_deps, { quality, pipeline, path }) =>
  writeWhole(path, await pipeline().gif(gifSettings(quality)).toBuffer());

/** Returns the settings for GIF, which has no quality: fewer colors and a coarser match between frames. */
export function gifSettings(quality: number): GifOptions {
  return {
    colours: Math.min(256, Math.round(2 ** (3 + (4 * quality) / 75))),
    interFrameMaxError: Math.round((100 - quality) / 6),
    keepDuplicateFrames: true,
    reuse: quality >= MIN_OWN_PALETTE_QUALITY,
    effort: 7,
  };
}
