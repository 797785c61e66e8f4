import type { Format } from '#crds/catalogue/formats.ts';

/** Formats that this handler writes; a `pdf` holds one image on one page. */
export type ImageTarget = 'jpg' | 'png' | 'webp' | 'avif' | 'heic' | 'tiff' | 'bmp' | 'gif' | 'pdf';

interface TargetRow {
  readonly name: string;
  readonly alpha: boolean;
  readonly animated: boolean;
  readonly profile: boolean;
  /** More than 8 bits per sample when written lossless. */
  readonly deep: boolean;
  readonly exif: boolean;
  /** Longest side in pixels. */
  readonly maxSide: number;
}

const row = (name: string, maxSide: number, features: Partial<TargetRow>): TargetRow => ({
  name,
  maxSide,
  alpha: false,
  animated: false,
  profile: false,
  deep: false,
  exif: false,
  ...features,
});

/** Features and maximum side of each target. The limits are those of the encoders. */
export const TARGETS: Readonly<Record<ImageTarget, TargetRow>> = {
  jpg: row('JPEG', 65_535, { profile: true, exif: true }),
  png: row('PNG', 2 ** 31 - 1, { alpha: true, profile: true, deep: true, exif: true }),
  webp: row('WebP', 16_383, { alpha: true, animated: true, profile: true, exif: true }),
  avif: row('AVIF', 16_384, { alpha: true, profile: true, exif: true }),
  heic: row('HEIC', 16_384, { alpha: true, profile: true, exif: true }),
  tiff: row('TIFF', 2 ** 31 - 1, { alpha: true, profile: true, deep: true, exif: true }),
  bmp: row('BMP', 2 ** 31 - 1, {}),
  gif: row('GIF', 65_535, { alpha: true, animated: true }),
  pdf: row('PDF', 2 ** 31 - 1, { alpha: true }),
};

export function isImageTarget(format: Format): format is ImageTarget {
  return Object.hasOwn(TARGETS, format);
}
