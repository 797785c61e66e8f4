/** Reduction of an image to at most 256 colors, for the formats that store few colors in few bytes. */
import type { PngOptions, Sharp } from 'sharp';
import { RGBA } from '#worker-image/engine/image/encode/color-points.ts';
import { countColors } from '#worker-image/engine/image/encode/count-colors.ts';
import type { DecodedImage } from '#worker-image/engine/image/encode/decoded-image.ts';
import type { Output } from '#worker-image/engine/image/encode/encoder.ts';
import type { ImageContent } from '#worker-image/engine/image/encode/quality-scale.ts';
import type { IndexedImage } from '#worker-image/engine/image/encode/indexed-png.ts';
import { quantizeColors } from '#worker-image/engine/image/encode/quantize-colors.ts';
import { sharp } from '#worker-image/engine/image/libvips-picture.ts';

/** Edge length of the central region whose palette error is measured, in pixels. */
const MEASURED_SIDE = 2048;

/**
 * Search for a palette. Without dithering, the flat areas and edges of a graphic are smaller and more like the input, after
 * two thirds of the time; gradients of a photo need it.
 */
const PALETTE_SEARCH: Readonly<Record<ImageContent, Pick<PngOptions, 'effort' | 'dither'>>> = {
  photo: { effort: 7, dither: 1 },
  graphic: { effort: 5, dither: 0 },
};

export interface Palette extends Pick<Output, 'pipeline' | 'quality' | 'path'> {
  readonly content: ImageContent;
  /** Of deflate, 0 to 9. */
  readonly compressionLevel: number;
}

/**
 * Reduces a graphic to a palette whose error is invisible at the quality. Returns null where it is visible, and for too many
 * colors.
 */
export function reduceColors({ samples, size, metadata }: DecodedImage, quality: number): IndexedImage | null {
  const counted = countColors(samples);
  if (counted === null) return null;
  const limit = paletteErrorLimit(quality);
  const palette = quantizeColors(counted, limit);
  return palette.error <= limit ? { size, pixels: counted.pixels, palette, metadata } : null;
}

/** Writes a PNG with a palette that libvips searches for. Returns whether its error is invisible at the quality. */
export async function writePalettePng(palette: Palette): Promise<boolean> {
  const { pipeline, quality, path, content, compressionLevel } = palette;
  const search = PALETTE_SEARCH[content];
  await pipeline()
    .png({ palette: true, quality: Math.max(1, quality), compressionLevel, ...search })
    .toFile(path);
  return (await paletteError(pipeline, path)) <= paletteErrorLimit(quality);
}
/**
 * Returns the mean squared error per visible sample between the pipeline's image and the file, both in sRGB with alpha, in
 * every fourth row of the central region.
 */
async function paletteError(pipeline: () => Sharp, path: string): Promise<number> {
  const { width, height } = await sharp(path, { limitInputPixels: false }).metadata();
  const region = {
    left: Math.max(0, (width - MEASURED_SIDE) >> 1),
    top: Math.max(0, (height - MEASURED_SIDE) >> 1),
    width: Math.min(width, MEASURED_SIDE),
    height: Math.min(height, MEASURED_SIDE),
  };
  const samples = (from: Sharp): Promise<Buffer> =>
    from.extract(region).toColourspace('srgb').ensureAlpha().raw({ depth: 'uchar' }).toBuffer();
  const [wanted, written] = await Promise.all([
    samples(pipeline()),
    samples(sharp(path, { limitInputPixels: false, ignoreIcc: true })),
  ]);
  return visibleError(wanted, written, region.width * RGBA);
}

/** Distance of the rows that are compared. */
const ROW_STEP = 4;

/** Returns the mean squared error of RGBA samples in some rows. Colors are weighted by their opacity. */
function visibleError(one: Buffer, other: Buffer, rowBytes: number): number {
  let sum = 0;
  let count = 0;
  for (let row = 0; row < one.length; row += ROW_STEP * rowBytes) {
    for (let i = row; i < row + rowBytes; i += RGBA) sum += pixelError(one, other, i);
    count += rowBytes;
  }
  return sum / count;
}

/** Returns the sum of the squared errors of the RGBA samples at a byte offset. */
function pixelError(one: Buffer, other: Buffer, at: number): number {
  const alphaOne = one[at + 3] ?? 0;
  const alphaOther = other[at + 3] ?? 0;
  let sum = (alphaOne - alphaOther) ** 2;
  for (let c = at; c < at + 3; c += 1) sum += (((one[c] ?? 0) * alphaOne - (other[c] ?? 0) * alphaOther) / 255) ** 2;
  return sum;
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
