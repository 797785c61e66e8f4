/** Opens ZIP packages, also those with bytes behind their end, which office programs ignore and yauzl rejects. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import yauzl, { type ZipFile } from 'yauzl';

const OPTIONS = { lazyEntries: true, autoClose: false } as const;
/** First bytes of the record at the end of a package. A comment of up to `MAX_COMMENT_BYTES` follows it. */
const END_SIGNATURE = Buffer.from('PK\x05\x06');
const END_BYTES = 22;
const MAX_COMMENT_BYTES = 0xffff;

/** Opens a package. @throws Error for a damaged one. */
export async function openZip(path: string): Promise<ZipFile> {
  try {
    return await yauzl.openPromise(path, OPTIONS);
  } catch (error) {
    const end = await endOfZip(path);
    if (end === null) throw error;
    const from = promisify<yauzl.RandomAccessReader, number, yauzl.Options, ZipFile>(yauzl.fromRandomAccessReader);
    return from(new FileRangeReader(path), end, OPTIONS);
  }
}

/** Returns the size of a package without the bytes behind its end; null when there are none, or no end. */
async function endOfZip(path: string): Promise<number | null> {
  await using file = await open(path, 'r');
  const { size } = await file.stat();
  const tail = Buffer.alloc(Math.min(size, END_BYTES + MAX_COMMENT_BYTES));
  await file.read(tail, 0, tail.length, size - tail.length);
  const at = tail.lastIndexOf(END_SIGNATURE);
  if (at === -1 || at + END_BYTES > tail.length) return null;
  const end = size - tail.length + at + END_BYTES + tail.readUInt16LE(at + END_BYTES - 2);
  return end < size ? end : null;
}

class FileRangeReader extends yauzl.RandomAccessReader {
  readonly #path: string;

  constructor(path: string) {
    super();
    this.#path = path;
  }

  /** @param end - Offset behind the last byte. */
  override _readStreamForRange(start: number, end: number): Readable {
    return createReadStream(this.#path, { start, end: end - 1 });
  }
}
