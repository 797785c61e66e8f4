/** Formats that libvips reads as browsers show them. */
import { readFile } from 'node:fs/promises';
import { libvipsPicture, readMetadata } from '#worker-image/engine/image/loaders/libvips-picture.ts';
import type { DecoderDeps, ImageFile, Picture } from '#worker-image/engine/image/picture.ts';
import { namesGainMap } from '#worker-image/engine/image/warnings/gain-map.ts';

export async function loadJpeg(_deps: DecoderDeps, file: ImageFile): Promise<Picture> {
  const { path } = file;
  const metadata = await readMetadata({ path });
  return libvipsPicture({
    file,
    path,
    metadata,
    isLossy: true,
    hasGainMap: async () => namesGainMap(await readFile(path)),
  });
}

export async function loadWebp(_deps: DecoderDeps, file: ImageFile): Promise<Picture> {
  const { path } = file;
  const metadata = await readMetadata({ path, animated: true });
  const { width, height, pageHeight = height, pages = 1, autoOrient } = metadata;
  const size = pages > 1 ? { width, height: pageHeight } : autoOrient;
  return libvipsPicture({ file, path, metadata, isLossy: true, animated: true, frames: pages, size });
}
