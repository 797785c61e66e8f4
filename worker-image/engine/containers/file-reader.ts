import { open, type FileHandle } from 'node:fs/promises';

/** An open file of which only a few parts are read. */
export interface FileReader {
  readonly path: string;
  /** Size of the file, in bytes. */
  readonly size: number;
  /** The first 64 KiB, or the whole of a smaller file. */
  readonly head: Buffer;
  /** Reads the part of the range that is inside the file: fewer bytes than `length` at its end, none beyond it. */
  read(offset: number, length: number): Promise<Buffer>;
}

const HEAD_BYTES = 64 * 1024;

/** Opens the file for the duration of the call. */
export async function withFileReader<T>(path: string, use: (file: FileReader) => Promise<T>): Promise<T> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    const read = (offset: number, length: number): Promise<Buffer> => readAt(handle, { offset, length, size });
    return await use({ path, size, head: await read(0, HEAD_BYTES), read });
  } finally {
    await handle.close();
  }
}

async function readAt(handle: FileHandle, range: { offset: number; length: number; size: number }): Promise<Buffer> {
  const length = Math.max(0, Math.min(range.length, range.size - range.offset));
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, range.offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
