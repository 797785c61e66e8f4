import type { Encoder } from '#worker-image/engine/image/encode/encoder.ts';
import { resolutionOf } from '#worker-image/engine/image/encode/resolution.ts';
import { writeWhole } from '#worker-image/engine/written-file.ts';

/** Maximum size of a TIFF that is encoded in memory, in pixels. Larger ones are written row by row. */
const MAX_PIXELS_IN_MEMORY = 16_000_000;
const MM_PER_INCH = 25.4;
/** Resolutions that sharp accepts, 0.001 to 1,000,000 pixels per millimeter, in pixels per inch. */
const DENSITY = { min: 0.001 * MM_PER_INCH, max: 1_000_000 * MM_PER_INCH } as const;

/** Writes a losslessly compressed TIFF. Without a resolution sharp would write one of 25.4 pixels per inch. */
export const encodeTiff: Encoder = async (_deps, { source, pipeline, path, size }) => {
  const { x, y } = resolutionOf(source, DENSITY);
  const resolution = { xres: x / MM_PER_INCH, yres: y / MM_PER_INCH };
  const tiff = pipeline().tiff({ compression: 'deflate', predictor: 'horizontal', ...resolution });
  if (size.width * size.height <= MAX_PIXELS_IN_MEMORY) return writeWhole(path, await tiff.toBuffer());
  await tiff.toFile(path);
  return null;
};
