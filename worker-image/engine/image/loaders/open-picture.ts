import { isRaster, isRaw, type RasterFormat } from '#crds/catalogue/formats.ts';
import type { Produced, Work } from '#worker-image/engine/handler.ts';
import { libvipsPicture } from '#worker-image/engine/image/libvips-picture.ts';
import { loadBmp } from '#worker-image/engine/image/loaders/load-bmp.ts';
import { loadGif } from '#worker-image/engine/image/loaders/load-gif.ts';
import { loadAvif, loadHeic } from '#worker-image/engine/image/loaders/load-heif.ts';
import { loadPng } from '#worker-image/engine/image/loaders/load-png.ts';
import { loadRaw } from '#worker-image/engine/image/loaders/load-raw.ts';
import { loadTiff } from '#worker-image/engine/image/loaders/load-tiff.ts';
import type { DecoderDeps, ImageFacts, ImageFile, ImageLoader, Picture } from '#worker-image/engine/image/picture.ts';

/** Loaders by format. Camera RAW formats share one. libvips reads JPEG and WebP as browsers show them. */
const LOADERS: Readonly<Record<RasterFormat, ImageLoader>> = {
  jpg: (_deps, file) => libvipsPicture({ file, isLossy: true, isJpeg: true }),
  webp: (_deps, file) => libvipsPicture({ file, isLossy: true, animated: true }),
  png: loadPng,
  gif: loadGif,
  avif: loadAvif,
  heic: loadHeic,
  tiff: loadTiff,
  bmp: loadBmp,
};

/** Opens the input, or an output, and returns its facts. @throws MediaError processing_failed when its headers cannot be read. */
export async function openImage(
  deps: DecoderDeps,
  { directory, limits, input }: Work,
  { path, format }: Pick<Produced, 'path' | 'format'> = input,
): Promise<ImageFacts> {
  const picture = await openPicture(deps, { path, format, directory, maxPixels: limits.maxPixels });
  const { size, frames, warning } = picture;
  return { ...size, frames, picture, ...(warning !== null && { warning }) };
}

/**
 * Opens an image file with the loader of its format. Takes milliseconds, whatever size the headers declare.
 * @throws MediaError processing_failed when the headers cannot be read.
 */
export async function openPicture(deps: DecoderDeps, file: ImageFile): Promise<Picture> {
  const { format } = file;
  if (isRaw(format)) return loadRaw(deps, file);
  if (!isRaster(format)) throw new TypeError(`${format} is no image format`);
  return LOADERS[format](deps, file);
}
