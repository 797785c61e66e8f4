/** The settings of the lossy encoders for a quality on the service's scale. */
import type { AvifOptions, GifOptions, JpegOptions, WebpOptions } from 'sharp';
import type { Content } from '#worker-image/engine/image/content-of.ts';
import { encoderQuality } from '#worker-image/engine/image/image-quality.ts';

export interface Look {
  /** 0 to 100 on the service's scale. */
  readonly quality: number;
  readonly content: Content;
}

/** From here on colour keeps its full resolution (4:4:4) in a photo too; below, half of it gives more for the bytes. */
const FULL_CHROMA_FROM = 95;

export function jpegSettings({ quality, content }: Look): JpegOptions {
  const full = content === 'graphic' || quality >= FULL_CHROMA_FROM;
  return {
    quality: encoderQuality(quality, content).jpg,
    mozjpeg: true,
    chromaSubsampling: full ? '4:4:4' : '4:2:0',
  };
}

/** WebP has no full chroma: the sharper way to halve it keeps coloured text readable, at twice the time. */
export function webpSettings({ quality, content }: Look): WebpOptions {
  return { quality: encoderQuality(quality, content).webp, effort: 4, smartSubsample: content === 'graphic' };
}

/**
 * What `webpSettings` is tried against for a graphic: few colours and flat areas are often smaller this way, and exact
 * or nearly so.
 */
export function exactWebpSettings({ quality }: Look): WebpOptions {
  return quality === 100 ? { lossless: true, effort: 2 } : { nearLossless: true, quality: 60, effort: 2 };
}

/** @param size - In pixels; sets how hard the encoder works. `bitdepth` is that of the samples. */
export function avifSettings(look: Look, { pixels, bitdepth }: { pixels: number; bitdepth: 8 | 10 }): AvifOptions {
  const { effort } = AVIF_EFFORTS.find(({ upTo }) => pixels <= upTo) ?? SLOWEST;
  return { quality: encoderQuality(look.quality, look.content).avif, effort, bitdepth, chromaSubsampling: '4:4:4' };
}

/**
 * Effort 4 takes 4 times the time of 3 for 5 per cent of size, so it is for small pictures; from 3 to 1 the time
 * halves for another 5 to 8 %, so that 100 megapixels end within a minute or two on two cores.
 */
const AVIF_EFFORTS: readonly { readonly upTo: number; readonly effort: number }[] = [
  { upTo: 1_000_000, effort: 4 },
  { upTo: 24_000_000, effort: 3 },
  { upTo: 60_000_000, effort: 2 },
];
const SLOWEST = { effort: 1 } as const;

/** GIF has no quality of its own: fewer colours and a coarser match between frames. */
export function gifSettings(quality: number): GifOptions {
  return {
    colours: Math.min(256, Math.round(2 ** (3 + (4 * quality) / 75))),
    interFrameMaxError: Math.round((100 - quality) / 6),
    keepDuplicateFrames: true,
    reuse: quality >= OWN_PALETTE_FROM,
    effort: 7,
  };
}

/** From here on a GIF keeps the palette that it came with. */
const OWN_PALETTE_FROM = 90;
