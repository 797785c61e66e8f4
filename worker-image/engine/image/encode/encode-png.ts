/** PNG, with a palette where its error is invisible, otherwise lossless. */
import type { Sharp } from 'sharp';
import { loadSharp } from '#worker-image/engine/image/load-sharp.ts';
import { paletteErrorLimit } from '#worker-image/engine/image/encode/quality-scale.ts';

interface PngEncoding {
  readonly pipeline: () => Sharp;
  readonly path: string;
  /** 0 to 100; 100 is lossless. */
  readonly quality: number;
}

/** Edge length of the central region whose palette error is measured, in pixels. */
const MEASURED_SIDE = 2048;

/** Writes a palette PNG when its error stays within the quality's limit, else a lossless one. */
export async function encodePng({ pipeline, path, quality }: PngEncoding): Promise<void> {
  if (quality < 100) {
    await pipeline()
      .png({ palette: true, quality: Math.max(1, quality), effort: 7, compressionLevel: 9 })
      .toFile(path);
    if ((await paletteError(pipeline, path)) <= paletteErrorLimit(quality)) return;
  }
  await pipeline().png({ compressionLevel: 9 }).toFile(path);
}

/** Returns the mean squared error per visible sample between the pipeline's image and the file, both in sRGB with alpha. */
async function paletteError(pipeline: () => Sharp, path: string): Promise<number> {
  const sharp = await loadSharp();
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
