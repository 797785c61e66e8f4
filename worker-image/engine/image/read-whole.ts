import { readFile, stat } from 'node:fs/promises';
import { MediaError } from '#crds/contract/media-error.ts';

/** Maximum size of a file that Node reads into memory, in bytes. */
const MAX_BYTES = 2 ** 31 - 1;

/** Reads an image file into memory. @throws MediaError limit_exceeded when it is too large for that. */
export async function readWhole(path: string): Promise<Buffer> {
  const { size } = await stat(path);
  if (size <= MAX_BYTES) return readFile(path);
  throw new MediaError(
    'limit_exceeded',
    `The file has ${size} bytes; this operation takes at most ${MAX_BYTES}. Send a smaller file.`,
  );
}
