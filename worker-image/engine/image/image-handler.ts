import type { KindHandler } from '#worker-image/engine/handler.ts';
import { compressImage } from '#worker-image/engine/image/compress-image.ts';
import { convertImage } from '#worker-image/engine/image/convert-image.ts';
import { loadSharp } from '#worker-image/engine/image/load-sharp.ts';
import { readImageFacts } from '#worker-image/engine/image/read-image-facts.ts';
import { stripImage } from '#worker-image/engine/image/strip-image.ts';
import { verifyImage } from '#worker-image/engine/image/verify-image.ts';

/** Images, camera RAW included (compress only). */
export const imageHandler: KindHandler = {
  prepare: loadSharp,
  inspect: (deps, work) =>
    readImageFacts(deps, { path: work.input.path, format: work.input.format, directory: work.directory }),
  compress: compressImage,
  convert: convertImage,
  stripMetadata: stripImage,
  verify: verifyImage,
};
