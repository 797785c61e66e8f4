/**
 * The service's quality scale. A quality q stands for a similarity to the input in any format, in SSIMULACRA2 about 62 at
 * 50, 74 at 75 and 85 at 90. Each row holds the encoders' own qualities for one q, measured on the calibration set. They
 * are interpolated between rows and extrapolated outside 30 to 95. See docs/reference/options.md#image.
 */
import type { ImageContent } from '#worker-image/engine/image/encode/classify-image.ts';

export interface EncoderQuality {
  readonly jpg: number;
  readonly webp: number;
  readonly avif: number;
  readonly heic: number;
}

type QualityRow = EncoderQuality & { readonly q: number };

const BEST: QualityRow = { q: 100, jpg: 100, webp: 100, avif: 100, heic: 90 };

/** Measured with the settings of `encoder-settings.ts`: subsampled chroma in all formats but AVIF. */
const PHOTO: readonly QualityRow[] = [
  { q: 0, jpg: 1, webp: 1, avif: 8, heic: 8 },
  { q: 30, jpg: 29, webp: 17, avif: 24, heic: 21 },
  { q: 50, jpg: 49, webp: 49, avif: 39, heic: 32 },
  { q: 60, jpg: 60, webp: 64, avif: 44, heic: 36 },
  { q: 70, jpg: 67, webp: 73, avif: 50, heic: 39 },
  { q: 75, jpg: 71, webp: 78, avif: 53, heic: 41 },
  { q: 80, jpg: 76, webp: 83, avif: 58, heic: 45 },
  { q: 85, jpg: 83, webp: 87, avif: 65, heic: 48 },
  { q: 90, jpg: 89, webp: 91, avif: 75, heic: 54 },
  { q: 95, jpg: 93, webp: 96, avif: 83, heic: 61 },
  BEST,
];

/**
 * Measured with full chroma where the format has it, and sharp subsampling in WebP. HEIC with subsampled chroma reaches a
 * mean of at most 81: colored text on a colored background stays at 50.
 */
const GRAPHIC: readonly QualityRow[] = [
  { q: 0, jpg: 1, webp: 1, avif: 4, heic: 8 },
  { q: 30, jpg: 22, webp: 8, avif: 12, heic: 20 },
  { q: 50, jpg: 52, webp: 20, avif: 25, heic: 29 },
  { q: 60, jpg: 64, webp: 37, avif: 31, heic: 33 },
  { q: 70, jpg: 73, webp: 49, avif: 35, heic: 38 },
  { q: 75, jpg: 77, webp: 57, avif: 38, heic: 42 },
  { q: 80, jpg: 83, webp: 72, avif: 43, heic: 49 },
  { q: 85, jpg: 87, webp: 81, avif: 49, heic: 58 },
  { q: 90, jpg: 92, webp: 92, avif: 56, heic: 68 },
  { q: 95, jpg: 95, webp: 97, avif: 63, heic: 76 },
  BEST,
];

const ROWS: Readonly<Record<ImageContent, readonly QualityRow[]>> = { photo: PHOTO, graphic: GRAPHIC };

/** Returns the encoders' own qualities for a quality of 0 to 100. */
export function encoderQuality(q: number, content: ImageContent): EncoderQuality {
  const rows = ROWS[content];
  const high = rows.find((row) => row.q >= q) ?? BEST;
  const low = rows.findLast((row) => row.q <= q) ?? high;
  const share = high.q === low.q ? 1 : (q - low.q) / (high.q - low.q);
  const between = (name: keyof EncoderQuality): number => Math.round(low[name] + (high[name] - low[name]) * share);
  return { jpg: between('jpg'), webp: between('webp'), avif: between('avif'), heic: between('heic') };
}

/**
 * Returns the maximum mean squared error per 8-bit sample of a palette PNG at this quality, on libimagequant's scale. A PNG
 * with a larger error is written lossless.
 */
export function paletteErrorLimit(q: number): number {
  const fudge = Math.max(0, 0.016 / (0.001 + q) - 0.001);
  const unit = fudge + (2.5 / (210 + q) ** 1.2) * ((100.1 - q) / 100);
  return unit * 255 * 255;
}
