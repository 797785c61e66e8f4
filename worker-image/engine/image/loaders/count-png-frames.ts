import type { FileReader } from '#worker-image/engine/containers/file-reader.ts';

const SIGNATURE_BYTES = 8;
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
  let at = SIGNATURE_BYTES;
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
