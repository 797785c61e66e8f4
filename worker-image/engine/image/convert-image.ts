/** Converts an image with fixed settings of high quality. */
import { isRaw } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import type { Work } from '#worker-image/engine/handler.ts';
import { carriedExif } from '#worker-image/engine/image/encode/carried-exif.ts';
import { encodeImage } from '#worker-image/engine/image/encode/encode-image.ts';
import {
  openFacts,
  type ImageDeps,
  type ImageFacts,
  type ProducedImage,
} from '#worker-image/engine/image/image-facts.ts';
import { isImageTarget } from '#worker-image/engine/image/image-formats.ts';
import { droppedContentWarnings } from '#worker-image/engine/image/warnings/dropped-content-warnings.ts';

const CONVERT_QUALITY = 95;

/**
 * Encodes the image in the target format.
 * @throws MediaError unsupported_input for camera RAW, processing_failed, limit_exceeded.
 */
export async function convertImage(deps: ImageDeps, work: Work, { picture }: ImageFacts): Promise<ProducedImage> {
  const target = work.options.convert.to;
  if (target === null || !isImageTarget(target)) throw new Error(`Images cannot be converted to ${target}.`);
  if (isRaw(picture.file.format)) {
    throw new MediaError('unsupported_input', 'Camera RAW files are not converted. Compress decodes them.');
  }
  const source = await picture.decode(deps);
  deps.onProgress(30);
  const exif = await carriedExif(picture, source);
  const path = await encodeImage(deps, {
    picture,
    source,
    target,
    quality: target === 'gif' ? 100 : CONVERT_QUALITY,
    lossless: true,
    resize: null,
    keepMetadata: true,
    exif: exif === 'unreadable' ? null : exif,
  });
  return {
    path,
    format: target,
    facts: target === 'pdf' ? picture.size : await openFacts(deps, work, { path, format: target }),
    warnings: await droppedContentWarnings({ picture, source, target }),
  };
}
