import { statSync } from 'node:fs';
import type { JpegOptions } from 'sharp';
import { writeWhole } from '#worker-image/engine/written-file.ts';
import type { Encoder } from '#worker-image/engine/image/encode/encoder.ts';
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
 * Minimum bits per pixel of a detailed photo, by its JPEG file and by its result. Huffman tables of its own would make such a
 * result 1 to 4 % smaller, for a quarter more of the whole time; a smooth one becomes up to two thirds larger without them.
 */
const DETAILED_BITS = { input: 2, output: 0.7 } as const;
/** Below it, results have too few bits for the standard tables. */
const MIN_DETAILED_QUALITY = 70;

/** Writes JPEG. */
export const encodeJpeg: Encoder = async (_deps, output) => {
  const { source, quality, pipeline, path } = output;
  const settings = jpegSettings(await lossyQuality(source, quality));
  return writeWhole(path, (await encodeDetailed(output, settings)) ?? (await pipeline().jpeg(settings).toBuffer()));
};

/** Encodes a detailed photo with the standard Huffman tables. Returns null for other images. */
async function encodeDetailed(
  { picture, quality, pipeline, size }: Parameters<Encoder>[1],
  settings: JpegOptions,
): Promise<Buffer | null> {
  const { file } = picture;
  if (file.format !== 'jpg' || quality < MIN_DETAILED_QUALITY || settings.quantisationTable !== PHOTO_TABLE)
    return null;
  if (bitsPerPixel(statSync(file.path).size, picture.size) < DETAILED_BITS.input) return null;
  const bytes = await pipeline()
    .jpeg({ ...settings, optimiseCoding: false })
    .toBuffer();
  return bitsPerPixel(bytes.length, size) < DETAILED_BITS.output ? null : bytes;
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
