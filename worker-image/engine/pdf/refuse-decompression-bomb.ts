/**
 * Refuses a PDF with streams that decode to far more than a document needs, before any tool opens it: some tools
 * would need minutes and gigabytes. Decodes the streams only to measure them, to the end of their data. Streams of an
 * encrypted file cannot be decoded without its key.
 */
import { open, type FileHandle } from 'node:fs/promises';
import { constants, inflateSync } from 'node:zlib';
import { MediaError } from '#crds/contract/media-error.ts';
import { decodeFilter, type ByteStream } from '#worker-image/engine/pdf/decode-filters.ts';
import { encodedStreams, hasZlibHeader, type EncodedStream } from '#worker-image/engine/pdf/encoded-streams.ts';
import { WorkBudget } from '#worker-image/engine/pdf/work-budget.ts';

const MIB = 1024 ** 2;
/** Limits of the decoded size of all streams without images, in bytes: minimum, multiple of the file size, maximum. */
const ALWAYS_BYTES = 64 * MIB;
const MAX_RATIO = 100;
const MAX_BYTES = 512 * MIB;
/** Maximum decoded size of one image, in bytes, whatever its declared size. */
const MAX_IMAGE_BYTES = 1024 * MIB;
/** Total decoded size of images after which no more are measured, in bytes. */
const MAX_MEASURED_IMAGE_BYTES = 8 * 1024 * MIB;

/** Maximum decoded size of a stream that is decoded in one call, in bytes. */
const SHORT_DECODED_BYTES = 4 * MIB;
/** Sizes of the first and the largest read of a stream, in bytes. */
const [FIRST_READ_BYTES, MAX_READ_BYTES] = [4 * 1024, 256 * 1024];

/** Limits of one stream. */
interface Limits {
  /** Decoded size in bytes above which decoding ends. */
  readonly most: number;
  readonly work: WorkBudget;
}

/**
 * Measures the decoded size of all streams.
 * @throws MediaError processing_failed for a PDF over the limits, of which one is that of the work.
 */
export async function refuseDecompressionBomb(path: string, signal: AbortSignal): Promise<void> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const allowed = Math.min(MAX_BYTES, Math.max(ALWAYS_BYTES, size * MAX_RATIO));
    const work = new WorkBudget(size, signal);
    let [total, images] = [0, 0];
    for await (const stream of encodedStreams(file, { size, work })) {
      const image = imageBytes(stream.dictionary);
      if (image !== null && images > MAX_MEASURED_IMAGE_BYTES) continue;
      const most = image ?? allowed - total;
      const bytes = await decodedSize(file, stream, { most, work });
      if (bytes > most) throw image === null ? decompressionBomb(size, allowed) : oversizedImage(image);
      if (image === null) total += bytes;
      else images += bytes;
      await work.pause(bytes);
    }
  } finally {
    await file.close();
  }
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

/** Returns the decoded size in bytes, or any number above the limit once it is exceeded. Damaged data ends decoding. */
async function decodedSize(file: FileHandle, stream: EncodedStream, limits: Limits): Promise<number> {
  if (stream.filters.join(' ') !== 'flate') return sizeOfLong(file, stream, limits);
  if (!hasZlibHeader(stream.head)) return 0;
  return sizeOfShort(stream.head, limits) ?? (await sizeOfLong(file, stream, limits));
}

/** Returns the decoded size in bytes, or null when the data continues after these bytes, decodes to more or is damaged. */
function sizeOfShort(encoded: Buffer, { most, work }: Limits): number | null {
  const options = {
    info: true,
    finishFlush: constants.Z_SYNC_FLUSH,
    maxOutputLength: Math.min(most + 1, SHORT_DECODED_BYTES),
  };
  let inflated: { buffer: Buffer; engine: { bytesWritten: number } };
  try {
    inflated = inflateSync(encoded, options) as unknown as typeof inflated;
  } catch {
    return null;
  }
  const { buffer, engine } = inflated;
  if (engine.bytesWritten === encoded.length) return null;
  work.spend(engine.bytesWritten);
  return buffer.length;
}

async function sizeOfLong(
  file: FileHandle,
  { at, dictionary, filters }: EncodedStream,
  { most, work }: Limits,
): Promise<number> {
  // zlib data has an end mark; other data could continue into the bytes that follow.
  const end = filters[0] === 'flate' ? Infinity : await endOf(file, { at, dictionary });
  let data: ByteStream = bytesFrom(file, at, end);
  for (const filter of filters) data = decodeFilter(filter, spending(data, work), dictionary);
  let bytes = 0;
  try {
    for await (const piece of data) {
      bytes += piece.length;
      if (bytes > most) break;
      await work.pause(piece.length);
    }
  } catch (error) {
    // Damaged data ends decoding here and in the tools.
    if (error instanceof MediaError) throw error;
  }
  return bytes;
}

/** Adds the bytes that a filter reads to the work. */
async function* spending(data: ByteStream, work: WorkBudget): AsyncGenerator<Buffer> {
  for await (const piece of data) {
    work.spend(piece.length);
    yield piece;
  }
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

/**
 * Reads a range of the file, in pieces of half of what was read before: a stream may end early. Not a read stream: that
 * closes the file when it is destroyed.
 */
async function* bytesFrom(file: FileHandle, at: number, end: number): AsyncGenerator<Buffer> {
  for (let from = at; from < end;) {
    const wanted = Math.min(MAX_READ_BYTES, Math.max(FIRST_READ_BYTES, Math.floor((from - at) / 2)), end - from);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(wanted), 0, wanted, from);
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
