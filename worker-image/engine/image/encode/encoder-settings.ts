/** Settings of the lossy encoders for a quality on the service's scale. */
import type { AvifOptions, GifOptions, JpegOptions, WebpOptions } from 'sharp';
import type { ImageContent } from '#worker-image/engine/image/encode/classify-image.ts';
import { encoderQuality } from '#worker-image/engine/image/encode/quality-scale.ts';

export interface TargetQuality {
  /** 0 to 100 on the service's scale. */
  readonly quality: number;
  readonly content: ImageContent;
}

/** Minimum quality at which photos keep full chroma (4:4:4). Below it, subsampled chroma costs fewer bytes for the same quality. */
const MIN_FULL_CHROMA_QUALITY = 95;

export function jpegSettings({ quality, content }: TargetQuality): JpegOptions {
  const full = content === 'graphic' || quality >= MIN_FULL_CHROMA_QUALITY;
  return {
    quality: encoderQuality(quality, content).jpg,
    mozjpeg: true,
    chromaSubsampling: full ? '4:4:4' : '4:2:0',
  };
}

/** Returns the settings for WebP, which has no full chroma. Sharp subsampling keeps colored text readable, at twice the time. */
export function webpSettings({ quality, content }: TargetQuality): WebpOptions {
  return { quality: encoderQuality(quality, content).webp, effort: 4, smartSubsample: content === 'graphic' };
}

/** Returns the second settings for a graphic: few colors and flat areas are often smaller when nearly lossless. */
export function exactWebpSettings({ quality }: TargetQuality): WebpOptions {
  return quality === 100 ? { lossless: true, effort: 2 } : { nearLossless: true, quality: 60, effort: 2 };
}

/** Returns the settings for AVIF. The effort depends on the size in pixels. */
export function avifSettings(
  target: TargetQuality,
  { pixels, bitdepth }: { pixels: number; bitdepth: 8 | 10 },
): AvifOptions {
  const { effort } = AVIF_EFFORTS.find(({ maxPixels }) => pixels <= maxPixels) ?? SLOWEST;
  return { quality: encoderQuality(target.quality, target.content).avif, effort, bitdepth, chromaSubsampling: '4:4:4' };
}

/**
 * Encoder effort by size in pixels. Effort 4 takes 4 times as long as 3 and saves 5 % of the bytes, so it is for small
 * images. From 3 to 1 the time halves for 5 to 8 % more bytes: 100 megapixels take a minute or two on two cores.
 */
const AVIF_EFFORTS: readonly { readonly maxPixels: number; readonly effort: number }[] = [
  { maxPixels: 1_000_000, effort: 4 },
  { maxPixels: 24_000_000, effort: 3 },
  { maxPixels: 60_000_000, effort: 2 },
];
const SLOWEST = { effort: 1 } as const;

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

/** Minimum quality at which a GIF keeps its palette. */
const MIN_OWN_PALETTE_QUALITY = 90;
