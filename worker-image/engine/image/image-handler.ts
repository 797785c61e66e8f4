import type { EngineDeps, KindHandler } from '#worker-image/engine/handler.ts';
import { compressImage } from '#worker-image/engine/image/compress-image.ts';
import { convertImage } from '#worker-image/engine/image/convert-image.ts';
import {
  openFacts,
  type ImageDeps,
  type ImageFacts,
  type ProducedImage,
} from '#worker-image/engine/image/image-facts.ts';
import { loadSharp } from '#worker-image/engine/image/load-sharp.ts';
import { openPicture } from '#worker-image/engine/image/loaders/open-picture.ts';
import type { ImageLoader } from '#worker-image/engine/image/picture.ts';
import { stripImage } from '#worker-image/engine/image/strip/strip-image.ts';
import { verifyImage } from '#worker-image/engine/image/verify-image.ts';

/** Returns the handler of images, with camera RAW for compress only. It opens input and output once each, with `open`. */
export function makeImageHandler(open: ImageLoader): KindHandler<ImageFacts, ProducedImage['facts']> {
  const withOpen = (deps: EngineDeps): ImageDeps => ({ ...deps, openPicture: open });
  return {
    prepare: loadSharp,
    inspect: (deps, work) => openFacts(withOpen(deps), work, work.input),
    compress: (deps, work, facts) => compressImage(withOpen(deps), work, facts),
    convert: (deps, work, facts) => convertImage(withOpen(deps), work, facts),
    stripMetadata: (deps, work, facts) => stripImage(withOpen(deps), work, facts),
    verify: verifyImage,
  };
}

export const imageHandler = makeImageHandler(openPicture);
