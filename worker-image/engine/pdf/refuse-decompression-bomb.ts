/**
 * Refuses a PDF with streams that decode to far more than a document needs, before any tool opens it: some tools
 * would need minutes and gigabytes. Decodes the streams only to measure them. Streams of an encrypted file cannot be
 * decoded without its key.
 *
 * Streams are found by their keyword, not by the cross-reference table, and read to the end of their data: neither a
 * wrong length nor a keyword inside a stream hides anything.
 */
import { open, type FileHandle } from 'node:fs/promises';
import { constants, inflateSync } from 'node:zlib';
import { MediaError } from '#crds/contract/media-error.ts';
import {
  decodeFilter,
  parseFilters,
  type ByteStream,
  type PdfFilter,
} from '#worker-image/engine/pdf/decode-filters.ts';

const MIB = 1024 ** 2;
/** Limits of the decoded size of all streams without images, in bytes: minimum, multiple of the file size, maximum. */
const ALWAYS_BYTES = 64 * MIB;
const MAX_RATIO = 100;
const MAX_BYTES = 512 * MIB;
/** Maximum decoded size of one image, in bytes, whatever its declared size. */
const MAX_IMAGE_BYTES = 1024 * MIB;
/** Total decoded size of images after which no more are measured, in bytes. */
const MAX_MEASURED_IMAGE_BYTES = 8 * 1024 * MIB;

const WINDOW_BYTES = 4 * MIB;
/** Maximum length of a stream's dictionary before its keyword, in bytes. */
const DICTIONARY_BYTES = 16 * 1024;
const KEYWORD = Buffer.from('stream');
/** Maximum number of `/Filter` entries of one dictionary that are tried. */
const MAX_FILTER_ENTRIES = 4;
/** Maximum encoded size of a stream that is decoded in one call, in bytes. */
const SHORT_BYTES = 64 * 1024;
const READ_BYTES = 256 * 1024;

interface EncodedStream {
  /** Offset of the data. */
  readonly at: number;
  readonly dictionary: string;
  /** Filters in decoding order. */
  readonly filters: readonly PdfFilter[];
  /** First bytes of the data, with what follows data that is shorter. Valid until the next stream is requested. */
  readonly head: Buffer;
}

/** Measures the decoded size of all streams. @throws MediaError processing_failed for a PDF over the limits. */
export async function refuseDecompressionBomb(path: string, signal: AbortSignal): Promise<void> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const allowed = Math.min(MAX_BYTES, Math.max(ALWAYS_BYTES, size * MAX_RATIO));
    let [total, images] = [0, 0];
    for await (const stream of encodedStreams(file, size)) {
      signal.throwIfAborted();
      const image = imageBytes(stream.dictionary);
      if (image !== null && images > MAX_MEASURED_IMAGE_BYTES) continue;
      const most = image ?? allowed - total;
      const bytes = await decodedSize(file, stream, most);
      if (bytes > most) throw image === null ? decompressionBomb(size, allowed) : oversizedImage(image);
      if (image === null) total += bytes;
      else images += bytes;
    }
  } finally {
    await file.close();
  }
}

/** Yields every offset where the data of an encoded stream may begin, in file order. */
async function* encodedStreams(file: FileHandle, size: number): AsyncGenerator<EncodedStream> {
  const window = Buffer.alloc(Math.min(size, WINDOW_BYTES));
  let seen = 0;
  for (let start = 0; start < size; start += WINDOW_BYTES - DICTIONARY_BYTES) {
    const { bytesRead } = await file.read(window, 0, window.length, start);
    let found = 0;
    for (const stream of streamsIn(window.subarray(0, bytesRead))) {
      if (start + stream.at > seen) yield { ...stream, at: start + stream.at };
      found = start + stream.at;
    }
    seen = Math.max(seen, found);
    if (start + bytesRead >= size) return;
  }
}

/** Yields the streams of a window; one whose data and dictionary disagree more than once. */
function* streamsIn(window: Buffer): Generator<EncodedStream> {
  for (let at = window.indexOf(KEYWORD); at !== -1; at = window.indexOf(KEYWORD, at + KEYWORD.length)) {
    const begin = dataBegin(window, at + KEYWORD.length);
    if (begin === null || begin + 2 > window.length || window.toString('latin1', at - 3, at) === 'end') continue;
    const before = window.subarray(Math.max(0, at - DICTIONARY_BYTES), at);
    const dictionary = before.toString('latin1', before.lastIndexOf(' obj') + 1);
    for (const filters of filterCandidates(dictionary, window.readUInt16BE(begin)))
      yield { at: begin, dictionary, filters, head: window.subarray(begin, begin + SHORT_BYTES) };
  }
}

/** Returns the offset after the line end that follows the keyword, or null when there is none. */
function dataBegin(window: Buffer, at: number): number | null {
  if (window[at] === 0x0a) return at + 1;
  if (window[at] !== 0x0d) return null;
  return window[at + 1] === 0x0a ? at + 2 : at + 1;
}

/** Returns filters by name and by the two-byte header of zlib data: the names may be in another object. */
function filterCandidates(dictionary: string, start: number): PdfFilter[][] {
  const candidates = parseFilters(dictionary).slice(0, MAX_FILTER_ENTRIES);
  const isDeflated = (start & 0x0f00) === 0x0800 && start >> 12 <= 7 && start % 31 === 0;
  if (isDeflated && !candidates.some(([first]) => first === 'flate')) candidates.push(['flate']);
  const isElsewhere = candidates.length === 0 && /\/Filter\s+\d+\s+\d+\s+R\b/.test(dictionary);
  return isElsewhere ? [['lzw']] : candidates;
}

/** Returns the decoded size that an image declares, in bytes; null for other streams. */
function imageBytes(dictionary: string): number | null {
  if (!/\/Subtype\s*\/Image\b/.test(dictionary)) return null;
  const entry = (name: string): number =>
    Number(new RegExp(`/${name}\\s+(\\d{1,9})\\b(?!\\s+\\d+\\s+R)`).exec(dictionary)?.[1] ?? 0);
  const [width, height] = [entry('Width'), entry('Height')];
  if (width === 0 || height === 0) return MAX_IMAGE_BYTES;
  // Eight color components are more than any real image has; a predictor adds a byte before each row.
  const row = Math.ceil((width * 8 * (entry('BitsPerComponent') || 8)) / 8) + 1;
  return Math.min(MAX_IMAGE_BYTES, row * height + MIB);
}

/** Returns the decoded size in bytes, or any number above `most` once it is exceeded. */
async function decodedSize(file: FileHandle, stream: EncodedStream, most: number): Promise<number> {
  const size = stream.filters.join(' ') === 'flate' ? sizeOfShort(stream.head, most) : null;
  return size ?? sizeOfLong(file, stream, most);
}

/** Returns the decoded size in bytes, or null when the data continues after these bytes. */
function sizeOfShort(encoded: Buffer, most: number): number | null {
  try {
    const { buffer, engine } = inflateSync(encoded, {
      info: true,
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: Math.min(most + 1, SHORT_BYTES * 64),
    }) as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
    return engine.bytesWritten < encoded.length ? buffer.length : null;
  } catch (error) {
    // The tools report damaged data.
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? null : 0;
  }
}

async function sizeOfLong(file: FileHandle, { at, dictionary, filters }: EncodedStream, most: number): Promise<number> {
  // zlib data has an end mark; other data could continue into the bytes that follow.
  const end = filters[0] === 'flate' ? Infinity : await endOf(file, { at, dictionary });
  let data: ByteStream = bytesFrom(file, at, end);
  for (const filter of filters) data = decodeFilter(filter, data, dictionary);
  let bytes = 0;
  try {
    for await (const piece of data) {
      bytes += piece.length;
      if (bytes > most) break;
    }
  } catch {
    // Damaged data ends decoding here and in the tools.
  }
  return bytes;
}

const END_KEYWORD = 'endstream';

/** Returns the end offset by the `/Length` of the dictionary if `endstream` follows it; otherwise Infinity. */
async function endOf(file: FileHandle, { at, dictionary }: Pick<EncodedStream, 'at' | 'dictionary'>): Promise<number> {
  const [only, ...others] = [...dictionary.matchAll(/\/Length\s+(\d{1,12})\b(?!\s+\d+\s+R)/g)];
  if (only === undefined || others.length > 0) return Infinity;
  const length = Number(only[1]);
  const after = Buffer.alloc(END_KEYWORD.length + 2);
  await file.read(after, 0, after.length, at + length);
  return after.includes(END_KEYWORD) ? at + length : Infinity;
}

/** Reads a range of the file. Not a read stream: that closes the file when it is destroyed. */
async function* bytesFrom(file: FileHandle, at: number, end: number): AsyncGenerator<Buffer> {
  for (let from = at; from < end;) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(READ_BYTES), 0, Math.min(READ_BYTES, end - from), from);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    from += bytesRead;
  }
}

function decompressionBomb(size: number, allowed: number): MediaError {
  return new MediaError(
    'processing_failed',
    `The PDF of ${size} bytes decompresses to more than ${allowed} bytes without its images, which is the maximum. Save it with less content.`,
  );
}

function oversizedImage(claimed: number): MediaError {
  return new MediaError(
    'processing_failed',
    `An image of the PDF decompresses to more than the ${claimed} bytes of its dimensions: it is damaged or malicious.`,
  );
}
