/** Writes an image in another format with fixed settings of high quality. Spec: POST /v1/convert. */
import { MediaError } from '#crds/media-error.ts';
import { NO_FACTS, type EngineDeps, type Facts, type Produced, type Work } from '#worker-image/engine/handler.ts';
import { encodeImage } from '#worker-image/engine/image/encode-image.ts';
import { isImageTarget, isRaw } from '#worker-image/engine/image/image-formats.ts';
import { lostParts } from '#worker-image/engine/image/lost-parts.ts';
import { openImage } from '#worker-image/engine/image/open-image.ts';
import { readImageFacts } from '#worker-image/engine/image/read-image-facts.ts';

const CONVERT_QUALITY = 95;

/** @throws MediaError unsupported_input for camera RAW, processing_failed, limit_exceeded. */
export async function convertImage(deps: EngineDeps, work: Work, facts: Facts): Promise<Produced> {
  const target = work.options.convert.to;
  if (target === null || !isImageTarget(target)) throw new Error(`An image was to be converted to ${target}.`);
  if (isRaw(work.input.format)) {
    throw new MediaError('unsupported_input', 'Camera RAW files are not converted. Compress decodes them.');
  }
  const image = await openImage(deps, work, facts);
  deps.onProgress(30);
  const path = await encodeImage(deps, {
    work,
    facts,
    image,
    target,
    quality: target === 'gif' ? 100 : CONVERT_QUALITY,
    lossless: true,
    resize: null,
    keepMetadata: true,
  });
  const { width, height } = facts;
  const written =
    target === 'pdf'
      ? { ...NO_FACTS, width, height }
      : await readImageFacts(deps, { path, format: target, directory: work.directory });
  return {
    path,
    format: target,
    facts: written,
    warnings: await lostParts({ input: work.input, facts, target, image }),
  };
}
