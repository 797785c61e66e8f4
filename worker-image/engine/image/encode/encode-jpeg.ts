import type { JpegOptions, Sharp } from 'sharp';
import { writeWhole } from '#worker-image/engine/written-file.ts';
import type { Encoder } from '#worker-image/engine/image/encode/encoder.ts';
import { fitHuffmanTables } from '#worker-image/engine/image/encode/fit-huffman-tables.ts';
import type { ImageSize } from '#worker-image/engine/image/picture.ts';
import {
  lossyQuality,
  type EncoderQuality,
  type LossyQuality,
} from '#worker-image/engine/image/encode/quality-scale.ts';

/** Minimum quality at which photos keep full chroma (4:4:4). Below it, subsampled chroma costs fewer bytes for the same quality. */
const MIN_FULL_CHROMA_QUALITY = 95;

/**
 * Quantization table of N. Robidoux, by mozjpeg's number. Photos with subsampled chroma come to the bytes of mozjpeg's search
 * (0.98 to 1.04 at an equal SSIMULACRA2, 19 photos) in an eighth of its time; with full chroma they would be 6 % larger.
 */
const PHOTO_TABLE = 5;

/**
 * Minimum size in pixels and bits per pixel of a photo that keeps the standard Huffman tables. Tables of its own would make it 1 to 4 %
 * smaller, in a quarter more of the whole time; a smooth photo becomes up to two fifths smaller by them.
 */
const STANDARD_TABLES = { pixels: 1_000_000, bits: 0.7 } as const;

/** Writes JPEG. */
export const encodeJpeg: Encoder = async (_deps, { source, quality, pipeline, path, size }) => {
  const settings = jpegSettings(await lossyQuality(source, quality));
  const isPhoto = settings.quantisationTable === PHOTO_TABLE;
  return writeWhole(
    path,
    await (isPhoto ? encodePhoto(pipeline, size, settings) : pipeline().jpeg(settings).toBuffer()),
  );
};

/** Encodes a photo. Its Huffman tables are fitted here, in half of the time that libjpeg takes for a second pass. */
async function encodePhoto(pipeline: () => Sharp, size: ImageSize, settings: JpegOptions): Promise<Buffer> {
  const standard = await pipeline()
    .jpeg({ ...settings, optimiseCoding: false })
    .toBuffer();
  const { pixels, bits } = STANDARD_TABLES;
  if (size.width * size.height >= pixels && bitsPerPixel(standard.length, size) >= bits) return standard;
  return fitHuffmanTables(standard) ?? pipeline().jpeg(settings).toBuffer();
}

/** Returns the bits per pixel of a file of that many bytes. */
export function bitsPerPixel(bytes: number, { width, height }: ImageSize): number {
  return (bytes * 8) / (width * height);
}

/** Returns the settings for JPEG: photos by a better table of quantization, the rest by mozjpeg's search. */
export function jpegSettings({ quality, content, encoders }: LossyQuality): JpegOptions {
  return content === 'photo' && quality < MIN_FULL_CHROMA_QUALITY
    ? photoSettings(encoders)
    : { quality: encoders.jpg, mozjpeg: true, chromaSubsampling: '4:4:4' };
}

/** Returns the settings for a photo with subsampled chroma. */
export function photoSettings({ jpg }: EncoderQuality): JpegOptions {
  return { quality: jpg, quantisationTable: PHOTO_TABLE, chromaSubsampling: '4:2:0' };
}
