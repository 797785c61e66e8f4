import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

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

/**
 * Opens the file for the duration of the call. Everything is synchronous, because an engine process has one file at a
 * time: a round trip through the thread pool takes more CPU time than the few bytes that are read.
 */
export async function withFileReader<T>(path: string, use: (file: FileReader) => Promise<T>): Promise<T> {
  const fd = openSync(path, 'r');
  let isOpen = true;
  try {
    const { size } = fstatSync(fd);
    const read = async (offset: number, length: number): Promise<Buffer> => {
      // The descriptor may be that of another file by now.
      if (!isOpen) throw new Error(`${path} is closed`);
      return readAt(fd, { offset, length, size });
    };
    return await use({ path, size, head: await read(0, HEAD_BYTES), read });
  } finally {
    isOpen = false;
    closeSync(fd);
  }
}

function readAt(fd: number, range: { offset: number; length: number; size: number }): Buffer {
  const length = Math.max(0, Math.min(range.length, range.size - range.offset));
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const bytesRead = readSync(fd, buffer, filled, length - filled, range.offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
