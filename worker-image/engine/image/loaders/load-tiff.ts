import { withFileReader } from '#worker-image/engine/containers/file-reader.ts';
import {
  libvipsPicture,
  openDecoded,
  openPixels,
  readMetadata,
  readThumbnail,
} from '#worker-image/engine/image/loaders/libvips-picture.ts';
import { readTiffStructure } from '#worker-image/engine/image/loaders/load-raw.ts';
import { decodeTiff, findFallback, type TiffFallback } from '#worker-image/engine/image/loaders/tiff-fallback.ts';
import type { DecoderDeps, ImageFile, Picture } from '#worker-image/engine/image/picture.ts';

/** Loads TIFF, with another decoder for the variants that libvips reads wrongly or not at all. */
export async function loadTiff(_deps: DecoderDeps, file: ImageFile): Promise<Picture> {
  const { path, maxPixels } = file;
  const fallback = await withFileReader(path, findFallback);
  if (fallback !== null) return fallbackPicture(file, fallback);
  const metadata = await readMetadata({ path });
  return libvipsPicture({
    file,
    path,
    metadata,
    decode: () => openPixels({ path, metadata, maxPixels, pages: metadata.pages ?? 1 }),
    readExif: () => readTiffStructure(file),
  });
}

function fallbackPicture(file: ImageFile, fallback: TiffFallback): Picture {
  return {
    file,
    size: fallback.size,
    frames: 1,
    isLossy: false,
    warning: null,
    animation: null,
    decode: async (deps) => openDecoded(await decodeTiff(deps, file, fallback), file),
    verify: async (deps) => void (await readThumbnail({ path: await decodeTiff(deps, file, fallback) })),
    readExif: () => readTiffStructure(file),
    hasGainMap: () => Promise.resolve(false),
  };
}
