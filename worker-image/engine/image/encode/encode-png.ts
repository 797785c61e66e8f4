/** PNG, with a palette where its error is invisible, otherwise lossless. */
import { pixelWords, PIXELS_PER_CALL } from '#worker-image/engine/image/encode/count-colors.ts';
import { decodeAndClassify } from '#worker-image/engine/image/encode/decoded-image.ts';
import type { Encoder } from '#worker-image/engine/image/encode/encoder.ts';
import { encodeIndexedPng, type IndexedImage } from '#worker-image/engine/image/encode/indexed-png.ts';
import { reduceColors, writePalettePng } from '#worker-image/engine/image/encode/palette.ts';
import { sharp } from '#worker-image/engine/image/libvips-picture.ts';
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
  await requirePixels(png, image);
  return { ...(await writeWhole(path, png)), undecoded: 'nothing' };
}

/** Decodes the file with libvips and compares every pixel. @throws Error when one differs. */
async function requirePixels(png: Buffer, image: IndexedImage): Promise<void> {
  const { pixels } = image;
  const samples = await sharp(png, { limitInputPixels: false, failOn: 'error', ignoreIcc: true })
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer();
  const written = pixelWords(samples);
  if (written.length !== pixels.length)
    throw new Error(`The PNG has ${written.length} pixels instead of ${pixels.length}.`);
  for (let at = 0; at < pixels.length; at += PIXELS_PER_CALL) {
    if (!hasPixels(image, written, at)) throw new Error(`The PNG differs from what was written after pixel ${at}.`);
  }
}

function hasPixels({ pixels, palette }: IndexedImage, written: Uint32Array, begin: number): boolean {
  const { colors, entries } = palette;
  const end = Math.min(pixels.length, begin + PIXELS_PER_CALL);
  for (let at = begin; at < end; at += 1) {
    if (written[at] !== colors[entries[pixels[at] ?? 0] ?? 0]) return false;
  }
  return true;
}
