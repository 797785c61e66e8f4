import type { KindHandler } from '#worker-image/engine/handler.ts';
import { compressImage } from '#worker-image/engine/image/compress-image.ts';
import { convertImage } from '#worker-image/engine/image/convert-image.ts';
import { withCanvas } from '#worker-image/engine/image/gif-canvas.ts';
import { loadSharp } from '#worker-image/engine/image/load-sharp.ts';
import { readImageFacts } from '#worker-image/engine/image/read-image-facts.ts';
import { stripImage } from '#worker-image/engine/image/strip-image.ts';
import { verifyImage } from '#worker-image/engine/image/verify-image.ts';

/** Images, camera RAW included (compress only). */
export const imageHandler: KindHandler = {
  prepare: loadSharp,
  inspect: async (deps, { input: { path, format }, directory, limits }) => {
    const facts = await readImageFacts(deps, { path, format, directory });
    return format === 'gif' ? withCanvas(path, facts, limits.maxPixels) : facts;
  },
  compress: compressImage,
  convert: convertImage,
  stripMetadata: stripImage,
  verify: verifyImage,
};
