import { open, type FileHandle } from 'node:fs/promises';

/** A file that is looked at in few places: its first 64 KiB are at hand, other parts are read on demand. */
export interface SniffedFile {
  readonly path: string;
  readonly size: number;
  /** As the caller gave it; separates only what the content cannot. */
  readonly filename: string | null;
  readonly head: Buffer;
  /** The bytes of that range that exist; shorter at the end of the file. */
  read(offset: number, length: number): Promise<Buffer>;
}

const HEAD_BYTES = 64 * 1024;

/** Opens the file for the time of the call. */
export async function withSniffedFile<T>(
  file: { path: string; filename: string | null },
  look: (file: SniffedFile) => Promise<T>,
): Promise<T> {
  const handle = await open(file.path, 'r');
  try {
    const { size } = await handle.stat();
    const read = (offset: number, length: number): Promise<Buffer> => readAt(handle, { offset, length, size });
    return await look({ path: file.path, size, filename: file.filename, head: await read(0, HEAD_BYTES), read });
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
