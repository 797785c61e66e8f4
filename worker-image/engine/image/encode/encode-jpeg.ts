import type { JpegOptions } from 'sharp';
import type { Encoder } from '#worker-image/engine/image/encode/encoder.ts';
import { lossyQuality, type LossyQuality } from '#worker-image/engine/image/encode/quality-scale.ts';

/** Minimum quality at which photos keep full chroma (4:4:4). Below it, subsampled chroma costs fewer bytes for the same quality. */
const MIN_FULL_CHROMA_QUALITY = 95;

/** Writes JPEG with mozjpeg's settings. */
export const encodeJpeg: Encoder = async (_deps, { source, quality, pipeline, path }) =>
  pipeline()
    .jpeg(jpegSettings(await lossyQuality(source, quality)))
    .toFile(path);

export function jpegSettings({ quality, content, encoders }: LossyQuality): JpegOptions {
  const full = content === 'graphic' || quality >= MIN_FULL_CHROMA_QUALITY;
  return { quality: encoders.jpg, mozjpeg: true, chromaSubsampling: full ? '4:4:4' : '4:2:0' };
}
