/** PNG, with a palette where its error is invisible, otherwise lossless. */
import { decodeAndClassify } from '#worker-image/engine/image/encode/decoded-image.ts';
import type { Encoder } from '#worker-image/engine/image/encode/encoder.ts';
import { encodeIndexedPng, type IndexedImage } from '#worker-image/engine/image/encode/indexed-png.ts';
import { reduceColors, writePalettePng } from '#worker-image/engine/image/encode/palette.ts';
import { requirePixels } from '#worker-image/engine/image/encode/verify-indexed-png.ts';
import { releaseMemory } from '#worker-image/engine/release-memory.ts';
import { writeWhole, type WrittenFile } from '#worker-image/engine/written-file.ts';

/** Maximum quality that 256 colors can reach for a photo. */
const MAX_PALETTE_QUALITY = 80;
const COMPRESSION_LEVEL = 9;
/** Size above which a palette's pixels are compressed at a lower level, in pixels: 4 % more bytes for 0.4 of the time. */
const MAX_SMALL_PIXELS = 2 ** 19;
const LARGE_COMPRESSION_LEVEL = 6;

/** Writes a palette PNG when its error stays within the quality's limit, else a lossless one. */
export const encodePng: Encoder = async (_deps, output) => {
  const { quality, lossless, pipeline, path } = output;
  if (!lossless && quality < 100) {
    const { content, decoded } = await decodeAndClassify(output);
    const indexed = decoded === null ? null : reduceColors(decoded, quality);
    if (decoded !== null) releaseMemory(decoded.samples);
    if (indexed !== null) return writeIndexed(path, indexed);
    if (content === 'graphic' || quality <= MAX_PALETTE_QUALITY) {
      const palette = { pipeline, quality, path, content, compressionLevel: COMPRESSION_LEVEL };
      if (await writePalettePng(palette)) return null;
    }
  }
  await pipeline().png({ compressionLevel: COMPRESSION_LEVEL }).toFile(path);
  return null;
};

async function writeIndexed(path: string, image: IndexedImage): Promise<WrittenFile> {
  const isSmall = image.pixels.length <= MAX_SMALL_PIXELS;
  const png = await encodeIndexedPng(image, isSmall ? COMPRESSION_LEVEL : LARGE_COMPRESSION_LEVEL);
  requirePixels(png, image);
  releaseMemory(image.pixels);
  return { ...(await writeWhole(path, png)), undecoded: 'nothing' };
}
