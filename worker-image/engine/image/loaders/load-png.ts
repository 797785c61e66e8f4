import { withFileReader } from '#worker-image/engine/containers/file-reader.ts';
import { countPngFrames } from '#worker-image/engine/image/loaders/count-png-frames.ts';
import { scratchPath, libvipsPicture, readMetadata } from '#worker-image/engine/image/loaders/libvips-picture.ts';
import { writeExifFirst } from '#worker-image/engine/image/loaders/png-trailing-exif.ts';
import type { DecoderDeps, ImageFile, Picture } from '#worker-image/engine/image/picture.ts';

/** Loads PNG. libvips reads the still image of an animated one, and no EXIF behind the pixels. */
export function loadPng(_deps: DecoderDeps, file: ImageFile): Promise<Picture> {
  return withFileReader(file.path, async (png) => {
    const copy = scratchPath(file, 'exif-first.png');
    const path = (await writeExifFirst(png, copy)) ? copy : file.path;
    const metadata = await readMetadata({ path });
    return libvipsPicture({ file, path, metadata, frames: await countPngFrames(png) });
  });
}
