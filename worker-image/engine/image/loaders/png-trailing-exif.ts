/** PNG with EXIF behind its pixels. Other programs read it there, libvips does not. */
import { readFile, writeFile } from 'node:fs/promises';
import type { FileReader } from '#worker-image/engine/containers/file-reader.ts';
import { PNG_SIGNATURE, readPngChunks } from '#worker-image/engine/containers/png-chunks.ts';

/** Tail of the file that is searched for an EXIF chunk, in bytes: twice the longest EXIF that a JPEG can hold. */
const TAIL_BYTES = 128 * 1024;
/** Maximum size of a file that is copied, in bytes. No image within the limits is larger. */
const MAX_FILE_BYTES = 1024 ** 3;

/**
 * Writes a copy whose EXIF, and so its orientation, precedes the pixels. Returns false and writes nothing when the file
 * has no EXIF behind its pixels.
 */
export async function writeExifFirst(png: Pick<FileReader, 'path' | 'size' | 'read'>, copy: string): Promise<boolean> {
  const tail = await png.read(Math.max(0, png.size - TAIL_BYTES), TAIL_BYTES);
  if (png.size > MAX_FILE_BYTES || !tail.includes('eXIf')) return false;
  const chunks = readPngChunks(await readFile(png.path)) ?? [];
  const exif = chunks.findIndex(({ type }) => type === 'eXIf');
  const pixels = chunks.findIndex(({ type }) => type === 'IDAT');
  if (pixels === -1 || exif < pixels) return false;
  const ordered = chunks.toSpliced(exif, 1).toSpliced(1, 0, ...chunks.slice(exif, exif + 1));
  await writeFile(copy, Buffer.concat([PNG_SIGNATURE, ...ordered.map(({ whole }) => whole)]));
  return true;
}
