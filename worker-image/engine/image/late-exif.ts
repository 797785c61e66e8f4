/** PNG whose EXIF stands behind its pixels, where the image library does not look and other programs do. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withSniffedFile } from '#worker-image/engine/identify/sniffed-file.ts';
import { PNG_SIGNATURE, readPngChunks } from '#worker-image/engine/image/png-chunks.ts';
import type { ImageFile } from '#worker-image/engine/image/read-image-facts.ts';

/** Of the end of the file, where such a chunk is looked for: two of the longest that a JPEG could hold. */
const TAIL_BYTES = 128 * 1024;
/** Of a file that is read whole; a picture of the greatest size has less. */
const MOST_BYTES = 1024 ** 3;

/** The path of the file itself, or that of a copy in the directory whose EXIF, and so its orientation, comes first. */
export async function readablePng({ path, directory }: Pick<ImageFile, 'path' | 'directory'>): Promise<string> {
  const isCandidate = await withSniffedFile({ path, filename: null }, async (file) => {
    const tail = await file.read(Math.max(0, file.size - TAIL_BYTES), TAIL_BYTES);
    return file.size <= MOST_BYTES && tail.includes('eXIf');
  });
  if (!isCandidate) return path;
  const chunks = readPngChunks(await readFile(path)) ?? [];
  const exif = chunks.findIndex(({ type }) => type === 'eXIf');
  const pixels = chunks.findIndex(({ type }) => type === 'IDAT');
  if (pixels === -1 || exif < pixels) return path;
  const copy = join(directory, 'exif-first.png');
  const ordered = chunks.toSpliced(exif, 1).toSpliced(1, 0, ...chunks.slice(exif, exif + 1));
  await writeFile(copy, Buffer.concat([PNG_SIGNATURE, ...ordered.map(({ whole }) => whole)]));
  return copy;
}
