import { isRaster, isRaw, type RasterFormat } from '#crds/catalogue/formats.ts';
import { loadBmp } from '#worker-image/engine/image/loaders/load-bmp.ts';
import { loadGif } from '#worker-image/engine/image/loaders/load-gif.ts';
import { loadAvif, loadHeic } from '#worker-image/engine/image/loaders/load-heif.ts';
import { loadJpeg, loadWebp } from '#worker-image/engine/image/loaders/load-plain.ts';
import { loadPng } from '#worker-image/engine/image/loaders/load-png.ts';
import { loadRaw } from '#worker-image/engine/image/loaders/load-raw.ts';
import { loadTiff } from '#worker-image/engine/image/loaders/load-tiff.ts';
import type { DecoderDeps, ImageFile, ImageLoader, Picture } from '#worker-image/engine/image/picture.ts';

/** Loaders by format. Camera RAW formats share one. */
const LOADERS: Readonly<Record<RasterFormat, ImageLoader>> = {
  jpg: loadJpeg,
  webp: loadWebp,
  png: loadPng,
  gif: loadGif,
  avif: loadAvif,
  heic: loadHeic,
  tiff: loadTiff,
  bmp: loadBmp,
};

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
