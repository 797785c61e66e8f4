/**
 * The quality scale: q means "looks like a mozjpeg file of quality q". Each row holds the encoders'
 * own numbers for one q; between rows they are interpolated. Spec: image.quality. The rows from 50 to 95
 * were measured with SSIMULACRA2 on photos (heic below 50 and the outermost rows are extrapolated).
 */

export interface EncoderQuality {
  readonly jpg: number;
  readonly webp: number;
  readonly avif: number;
  readonly heic: number;
}

const BEST = { q: 100, jpg: 100, webp: 100, avif: 100, heic: 90 } as const;

const ROWS: readonly (EncoderQuality & { readonly q: number })[] = [
  { q: 0, jpg: 1, webp: 1, avif: 12, heic: 10 },
  { q: 50, jpg: 50, webp: 57, avif: 46, heic: 37 },
  { q: 60, jpg: 60, webp: 65, avif: 49, heic: 41 },
  { q: 70, jpg: 70, webp: 77, avif: 55, heic: 44 },
  { q: 75, jpg: 75, webp: 82, avif: 60, heic: 47 },
  { q: 80, jpg: 80, webp: 85, avif: 64, heic: 49 },
  { q: 85, jpg: 85, webp: 88, avif: 70, heic: 52 },
  { q: 90, jpg: 90, webp: 94, avif: 82, heic: 61 },
  { q: 95, jpg: 95, webp: 97, avif: 90, heic: 69 },
  BEST,
];

/** From here on colour keeps its full resolution (4:4:4) in JPEG. */
export const FULL_CHROMA_FROM = 90;

/** The encoders' numbers for a quality of 0 to 100. */
export function encoderQuality(q: number): EncoderQuality {
  const high = ROWS.find((row) => row.q >= q) ?? BEST;
  const low = ROWS.findLast((row) => row.q <= q) ?? high;
  const share = high.q === low.q ? 1 : (q - low.q) / (high.q - low.q);
  const between = (name: keyof EncoderQuality): number => Math.round(low[name] + (high[name] - low[name]) * share);
  return { jpg: between('jpg'), webp: between('webp'), avif: between('avif'), heic: between('heic') };
}

/** GIF has no quality of its own: fewer colours and a coarser match between frames. */
export function gifSettings(q: number): { colours: number; interFrameMaxError: number } {
  return {
    colours: Math.min(256, Math.round(2 ** (3 + (4 * q) / 75))),
    interFrameMaxError: Math.round((100 - q) / 6),
  };
}

/**
 * The largest mean squared error, per 8-bit sample, that a palette PNG may have at this quality:
 * libimagequant's own scale. Beyond it the PNG is written lossless.
 */
export function paletteErrorLimit(q: number): number {
  const fudge = Math.max(0, 0.016 / (0.001 + q) - 0.001);
  const unit = fudge + (2.5 / (210 + q) ** 1.2) * ((100.1 - q) / 100);
  return unit * 255 * 255;
}
