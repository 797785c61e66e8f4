/**
 * Looks for streams that unpack to far more than a document needs, before any tool opens the PDF: some of
 * them would take minutes and gigabytes over it. Streams are unpacked to be measured; nothing is kept. Those
 * of an encrypted file are not: they hold nothing that can be unpacked without its key.
 *
 * A stream is found by its keyword, whatever the file's directory says of it, and read as far as its data
 * goes: neither a wrong length nor a keyword planted inside hides anything.
 */
import { open, type FileHandle } from 'node:fs/promises';
import { constants, inflateSync } from 'node:zlib';
import { MediaError } from '#crds/media-error.ts';
import { filtersOf, unpack, type Bytes, type Filter } from '#worker-image/engine/pdf/unpack-filters.ts';

const MIB = 1024 ** 2;
/** What all streams but images may unpack to, together: this much in any file, this many times the file, this much at most. */
const ALWAYS_BYTES = 64 * MIB;
const MAX_RATIO = 100;
const MAX_BYTES = 512 * MIB;
/** What one image may unpack to, however many pixels it claims. */
const MAX_IMAGE_BYTES = 1024 * MIB;
/** Images over this many bytes in total are no longer looked at: each was as large as it claims so far. */
const MAX_MEASURED_IMAGE_BYTES = 8 * 1024 * MIB;

const WINDOW_BYTES = 4 * MIB;
/** Where a stream's dictionary is looked for: this many bytes before its keyword. */
const DICTIONARY_BYTES = 16 * 1024;
const KEYWORD = Buffer.from('stream');
/** Of a dictionary that names its filters again and again, so many are tried. */
const MAX_WAYS = 4;
/** Streams of no more packed bytes are unpacked at once. */
const SHORT_BYTES = 64 * 1024;
const READ_BYTES = 256 * 1024;

interface PackedStream {
  /** Where its data begins. */
  readonly at: number;
  readonly dictionary: string;
  /** In the order in which they are undone. */
  readonly filters: readonly Filter[];
}

/** @throws MediaError processing_failed, with the value and the limit, for a PDF whose streams unpack to too much. */
export async function refuseStreamBomb(path: string, signal: AbortSignal): Promise<void> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const allowed = Math.min(MAX_BYTES, Math.max(ALWAYS_BYTES, size * MAX_RATIO));
    let [total, images] = [0, 0];
    for await (const stream of packedStreams(file, size)) {
      signal.throwIfAborted();
      const image = imageBytes(stream.dictionary);
      if (image !== null && images > MAX_MEASURED_IMAGE_BYTES) continue;
      const most = image ?? allowed - total;
      const bytes = await unpackedBytes(file, stream, most);
      if (bytes > most) throw image === null ? bomb(size, allowed) : lyingImage(image);
      if (image === null) total += bytes;
      else images += bytes;
    }
  } finally {
    await file.close();
  }
}

/** Every place where the data of a packed stream may begin, in the order of the file. */
async function* packedStreams(file: FileHandle, size: number): AsyncGenerator<PackedStream> {
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

/** A stream whose data and dictionary say different things comes more than once. */
function* streamsIn(window: Buffer): Generator<PackedStream> {
  for (let at = window.indexOf(KEYWORD); at !== -1; at = window.indexOf(KEYWORD, at + KEYWORD.length)) {
    const begin = dataBegin(window, at + KEYWORD.length);
    if (begin === null || begin + 2 > window.length || window.toString('latin1', at - 3, at) === 'end') continue;
    const before = window.toString('latin1', Math.max(0, at - DICTIONARY_BYTES), at);
    const dictionary = before.slice(before.lastIndexOf(' obj') + 1);
    for (const filters of waysToUnpack(dictionary, window.readUInt16BE(begin)))
      yield { at: begin, dictionary, filters };
  }
}

/** Behind the line end that follows the keyword; null when there is none, or the window ends. */
function dataBegin(window: Buffer, at: number): number | null {
  if (window[at] === 0x0a) return at + 1;
  if (window[at] !== 0x0d) return null;
  return window[at + 1] === 0x0a ? at + 2 : at + 1;
}

/** By the filters' names, and by the two bytes that deflated data begins with: the names may stand elsewhere in the file. */
function waysToUnpack(dictionary: string, start: number): Filter[][] {
  const ways = filtersOf(dictionary).slice(0, MAX_WAYS);
  const isDeflated = (start & 0x0f00) === 0x0800 && start >> 12 <= 7 && start % 31 === 0;
  if (isDeflated && !ways.some(([first]) => first === 'flate')) ways.push(['flate']);
  const isElsewhere = ways.length === 0 && /\/Filter\s+\d+\s+\d+\s+R\b/.test(dictionary);
  return isElsewhere ? [['lzw']] : ways;
}

/** What an image that is no larger than it claims unpacks to; null for other streams. */
function imageBytes(dictionary: string): number | null {
  if (!/\/Subtype\s*\/Image\b/.test(dictionary)) return null;
  const entry = (name: string): number =>
    Number(new RegExp(`/${name}\\s+(\\d{1,9})\\b(?!\\s+\\d+\\s+R)`).exec(dictionary)?.[1] ?? 0);
  const [width, height] = [entry('Width'), entry('Height')];
  if (width === 0 || height === 0) return MAX_IMAGE_BYTES;
  // More colours than four are rare, more than eight unheard of; a predictor puts a byte before each row.
  const row = Math.ceil((width * 8 * (entry('BitsPerComponent') || 8)) / 8) + 1;
  return Math.min(MAX_IMAGE_BYTES, row * height + MIB);
}

/** The length of the unpacked data; more than `most` as soon as that is sure. */
async function unpackedBytes(file: FileHandle, stream: PackedStream, most: number): Promise<number> {
  if (stream.filters.join(' ') !== 'flate') return unpackLong(file, stream, most);
  const head = Buffer.alloc(SHORT_BYTES);
  const { bytesRead } = await file.read(head, 0, SHORT_BYTES, stream.at);
  return unpackShort(head.subarray(0, bytesRead), most) ?? unpackLong(file, stream, most);
}

/** null when the data goes on behind these bytes. */
function unpackShort(packed: Buffer, most: number): number | null {
  try {
    const { buffer, engine } = inflateSync(packed, {
      info: true,
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: Math.min(most + 1, SHORT_BYTES * 64),
    }) as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
    return engine.bytesWritten < packed.length ? buffer.length : null;
  } catch (error) {
    // Damaged data is the tools' matter.
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? null : 0;
  }
}

async function unpackLong(file: FileHandle, { at, dictionary, filters }: PackedStream, most: number): Promise<number> {
  // Deflated data says itself where it ends, other data may go on into whatever follows.
  const end = filters[0] === 'flate' ? Infinity : await endOf(file, { at, dictionary });
  let data: Bytes = bytesFrom(file, at, end);
  for (const filter of filters) data = unpack(filter, data, dictionary);
  let bytes = 0;
  try {
    for await (const piece of data) {
      bytes += piece.length;
      if (bytes > most) break;
    }
  } catch {
    // Damaged data ends the measuring, as it ends what tools make of it.
  }
  return bytes;
}

const END_KEYWORD = 'endstream';

/** Where its data ends by the length in its dictionary, when the keyword stands there; infinite otherwise. */
async function endOf(file: FileHandle, { at, dictionary }: Pick<PackedStream, 'at' | 'dictionary'>): Promise<number> {
  const [only, ...others] = [...dictionary.matchAll(/\/Length\s+(\d{1,12})\b(?!\s+\d+\s+R)/g)];
  if (only === undefined || others.length > 0) return Infinity;
  const length = Number(only[1]);
  const after = Buffer.alloc(END_KEYWORD.length + 2);
  await file.read(after, 0, after.length, at + length);
  return after.includes(END_KEYWORD) ? at + length : Infinity;
}

/** A read stream of the file would close it when it is destroyed. */
async function* bytesFrom(file: FileHandle, at: number, end: number): AsyncGenerator<Buffer> {
  for (let from = at; from < end;) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(READ_BYTES), 0, Math.min(READ_BYTES, end - from), from);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    from += bytesRead;
  }
}

function bomb(size: number, allowed: number): MediaError {
  return new MediaError(
    'processing_failed',
    `The PDF of ${size} bytes unpacks to more than ${allowed} bytes besides its images; no more are unpacked. Save it again with less in it.`,
  );
}

function lyingImage(claimed: number): MediaError {
  return new MediaError(
    'processing_failed',
    `An image of the PDF unpacks to more than the ${claimed} bytes that its size takes: it is damaged or built to do harm.`,
  );
}
