import type { EngineDeps, Facts, Produced, Work } from '#worker-image/engine/handler.ts';
import type { ImageLoader, Picture } from '#worker-image/engine/image/picture.ts';

/** The facts of an image, with the picture that later steps work on; `frames` is 1 for a still one. */
export interface ImageFacts extends Facts {
  readonly width: number;
  readonly height: number;
  readonly frames: number;
  readonly picture: Picture;
}

/** A produced image, opened once; a PDF has no picture. */
export type ProducedImage = Produced<Facts & { readonly picture?: Picture }>;

export interface ImageDeps extends EngineDeps {
  readonly openPicture: ImageLoader;
}

/** Opens an input or output and returns its facts. @throws MediaError processing_failed when its headers cannot be read. */
export async function openFacts(
  deps: ImageDeps,
  { directory, limits }: Work,
  { path, format }: Pick<Produced, 'path' | 'format'>,
): Promise<ImageFacts> {
  const picture = await deps.openPicture(deps, { path, format, directory, maxPixels: limits.maxPixels });
  const { size, frames, warning } = picture;
  return { ...size, frames, picture, ...(warning !== null && { warning }) };
}
