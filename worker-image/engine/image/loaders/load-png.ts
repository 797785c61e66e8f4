/** PNG. libvips reads the still image of an animated one, and no EXIF behind the pixels, where other programs read it. */
import { readFile, writeFile } from 'node:fs/promises';
import { withFileReader, type FileReader } from '#worker-image/engine/containers/file-reader.ts';
import { PNG_SIGNATURE, readPngChunks } from '#worker-image/engine/containers/png-chunks.ts';
import { libvipsPicture, scratchPath } from '#worker-image/engine/image/libvips-picture.ts';
import type { DecoderDeps, ImageFile, Picture } from '#worker-image/engine/image/picture.ts';

export function loadPng(_deps: DecoderDeps, file: ImageFile): Promise<Picture> {
  return withFileReader(file.path, async (png) => {
    const path = await writeExifFirst(png, file);
    return libvipsPicture({ file, path, frames: await countPngFrames(png) });
  });
}

/** Tail of the file that is searched for an EXIF chunk, in bytes: twice the longest EXIF that a JPEG can hold. */
const TAIL_BYTES = 128 * 1024;
/** Maximum size of a file that is copied, in bytes. No image within the limits is larger. */
const MAX_FILE_BYTES = 1024 ** 3;

/** Returns the path of a copy whose EXIF, and so its orientation, precedes the pixels; of the file if its EXIF does. */
async function writeExifFirst(png: FileReader, file: ImageFile): Promise<string> {
  const tail = await png.read(Math.max(0, png.size - TAIL_BYTES), TAIL_BYTES);
  if (png.size > MAX_FILE_BYTES || !tail.includes('eXIf')) return file.path;
  const chunks = readPngChunks(await readFile(file.path)) ?? [];
  const exif = chunks.findIndex(({ type }) => type === 'eXIf');
  const pixels = chunks.findIndex(({ type }) => type === 'IDAT');
  if (pixels === -1 || exif < pixels) return file.path;
  const ordered = chunks.toSpliced(exif, 1).toSpliced(1, 0, ...chunks.slice(exif, exif + 1));
  const copy = scratchPath(file, 'exif-first.png');
  await writeFile(copy, Buffer.concat([PNG_SIGNATURE, ...ordered.map(({ whole }) => whole)]));
  return copy;
}

/** Length, type and the first four bytes of data. */
const CHUNK_START_BYTES = 12;
const MAX_CHUNKS_BEFORE_PIXELS = 1000;

/**
 * Returns the number of frames of a PNG, 1 when it is not animated. Reads only the chunk headers before the pixels. A
 * single frame without an `fcTL` chunk before the pixels is not the still image, which counts as a frame of its own.
 */
export async function countPngFrames(png: Pick<FileReader, 'read'>): Promise<number> {
  const seen = new Set<string>();
  let claimed = 0;
  let at = PNG_SIGNATURE.length;
  for (let i = 0; i < MAX_CHUNKS_BEFORE_PIXELS; i += 1) {
    const start = await png.read(at, CHUNK_START_BYTES);
    const type = start.toString('latin1', 4, 8);
    if (start.length < CHUNK_START_BYTES || type === 'IDAT') break;
    if (type === 'acTL') claimed = start.readUInt32BE(8);
    seen.add(type);
    at += CHUNK_START_BYTES + start.readUInt32BE(0);
  }
  return claimed === 1 && !seen.has('fcTL') ? 2 : Math.max(1, claimed);
}
