import { readFile, stat } from 'node:fs/promises';
import { developRaw, readRawSize } from '#worker-image/engine/image/loaders/camera-raw.ts';
import { openDecoded } from '#worker-image/engine/image/loaders/libvips-picture.ts';
import type { DecoderDeps, ImageFile, Picture } from '#worker-image/engine/image/picture.ts';
import { brokenFile } from '#worker-image/engine/containers/broken-file.ts';

/** Maximum size of a TIFF or RAW file whose EXIF is carried over, in bytes: it is read into memory as a whole. */
const MAX_EXIF_FILE_BYTES = 512 * 1024 ** 2;

/** Loads camera RAW, which LibRaw develops. No output is one. */
export async function loadRaw(deps: DecoderDeps, file: ImageFile): Promise<Picture> {
  return {
    file,
    size: await readRawSize(deps, file),
    frames: 1,
    isLossy: false,
    warning: null,
    animation: null,
    decode: async (decoders) => openDecoded(await developRaw(decoders, file), file),
    verify: () => Promise.reject(new TypeError('camera RAW is no output format')),
    readExif: () => readTiffStructure(file),
    hasGainMap: () => Promise.resolve(false),
  };
}

/** Returns a file that is a TIFF structure. @throws MediaError processing_failed when it is none or too large. */
export async function readTiffStructure({ path, format }: ImageFile): Promise<Buffer> {
  const { size } = await stat(path);
  if (size <= MAX_EXIF_FILE_BYTES && format !== 'raf') return readFile(path);
  throw brokenFile(format, 'it has no directories, or is too large');
}
