/** PNG, with a palette where its error is invisible, otherwise lossless. */
import type { PngOptions, Sharp } from 'sharp';
import type { Encoder } from '#worker-image/engine/image/encode/encoder.ts';
import { classifyImage, type ImageContent } from '#worker-image/engine/image/encode/quality-scale.ts';
import { sharp } from '#worker-image/engine/image/libvips-picture.ts';

/** Maximum quality that 256 colors can reach for a photo. */
const MAX_PALETTE_QUALITY = 80;
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

/** Writes a palette PNG when its error stays within the quality's limit, else a lossless one. */
export const encodePng: Encoder = async (_deps, { source, quality, lossless, pipeline, path }) => {
  const content = lossless || quality === 100 ? null : await classifyImage(source);
  if (content === 'graphic' || (content === 'photo' && quality <= MAX_PALETTE_QUALITY)) {
    await pipeline()
      .png({ palette: true, quality: Math.max(1, quality), compressionLevel: 9, ...PALETTE_SEARCH[content] })
      .toFile(path);
    if ((await paletteError(pipeline, path)) <= paletteErrorLimit(quality)) return;
  }
  await pipeline().png({ compressionLevel: 9 }).toFile(path);
};

/** Returns the mean squared error per visible sample between the pipeline's image and the file, both in sRGB with alpha. */
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
  return visibleError(wanted, written);
}

/** Returns the mean squared error of RGBA samples. Colors are weighted by their opacity. */
function visibleError(one: Buffer, other: Buffer): number {
  let sum = 0;
  for (let i = 0; i < one.length; i += 4) {
    const alphaOne = one[i + 3] ?? 0;
    const alphaOther = other[i + 3] ?? 0;
    for (let c = 0; c < 3; c += 1)
      sum += (((one[i + c] ?? 0) * alphaOne - (other[i + c] ?? 0) * alphaOther) / 255) ** 2;
    sum += (alphaOne - alphaOther) ** 2;
  }
  return sum / one.length;
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
