import { crc32 } from 'node:zlib';

export const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

export interface PngChunk {
  readonly type: string;
  readonly data: Buffer;
  /** Length, type, data and checksum as in the file. */
  readonly whole: Buffer;
}

/** Maximum number of chunks. Encoders put 8 KiB and more into one; a list of empty ones would fill the memory. */
const MAX_CHUNKS = 1_000_000;

/**
 * Returns the chunks up to and with IEND; later bytes are not part of the image. Returns null when the file is
 * truncated or has more than `MAX_CHUNKS`.
 */
export function readPngChunks(file: Buffer): PngChunk[] | null {
  if (!file.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) return null;
  const chunks: PngChunk[] = [];
  let at = PNG_SIGNATURE.length;
  while (at + 12 <= file.length && chunks.length < MAX_CHUNKS) {
    const end = at + 12 + file.readUInt32BE(at);
    if (end > file.length) return null;
    const type = file.toString('latin1', at + 4, at + 8);
    chunks.push({ type, data: file.subarray(at + 8, end - 4), whole: file.subarray(at, end) });
    if (type === 'IEND') return chunks;
    at = end;
  }
  return null;
}

/** Returns the bytes of a chunk with its checksum. */
export function makePngChunk(type: string, data: Buffer): Buffer {
  const chunk = Buffer.alloc(12 + data.length);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4, 'latin1');
  data.copy(chunk, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length);
  return chunk;
}
