/** Streams of a PDF file. Source: ISO 32000-2, 7.3.8 and 7.4. */
import { inflateSync, type Zlib } from 'node:zlib';

const [KEYWORD, END_KEYWORD, OBJECT] = ['stream', 'endstream', 'obj'];
/** Maximum size of a dictionary, and of the end of it or of a stream with the whitespace around, in bytes. */
const [MAX_DICTIONARY_BYTES, MAX_GAP_BYTES] = [4096, 4];
/** Maximum size of a decompressed stream, in bytes. All of them together may exceed it by this multiple of the file's size. */
const [MAX_STREAM_BYTES, MAX_RATIO] = [256 * 1024 ** 2, 16];
/** Filters of a dictionary: a list, a name or, without either, something else. */
const FILTERS = /\/Filter\s*(?:\[\s*([^\]]*)\]|(\/\w+))?/;
/** Length of a stream that no other object holds. */
const LENGTH = /\/Length\s+(\d{1,10})\b(?!\s+\d+\s+R)/;
/** Filters whose data is not read: those of images, which no PDF reader checks either, and none. */
const UNCHECKED_FILTERS: readonly string[] = ['/DCTDecode', '/JPXDecode', '/CCITTFaxDecode', '/JBIG2Decode', ''];

/**
 * Decompresses every deflated stream to its end and compares its checksum. Returns false at the first stream that has other
 * filters or an unknown end, or decompresses to too much: then not all were read.
 * @throws Error for a damaged stream.
 */
export function checkStreams(pdf: Buffer): boolean {
  let left = MAX_STREAM_BYTES + pdf.length * MAX_RATIO;
  for (let at = pdf.indexOf(KEYWORD); at !== -1; at = pdf.indexOf(KEYWORD, at)) {
    const isStream = endsDictionary(pdf, at);
    const dictionary = isStream ? dictionaryBefore(pdf, at) : null;
    at += KEYWORD.length;
    if (!isStream) continue;
    const start = pdf[at] === 0x0d ? at + 2 : at + 1;
    const stream = dictionary === null ? null : readStream(pdf, { start, dictionary, left });
    // Behind an unknown end, bytes of the stream could look like streams.
    if (stream === null) return false;
    at = stream.end;
    left -= stream.decompressed;
  }
  return true;
}

/** Returns whether a keyword follows a dictionary. */
function endsDictionary(pdf: Buffer, at: number): boolean {
  return pdf
    .toString('latin1', Math.max(0, at - MAX_GAP_BYTES), at)
    .trimEnd()
    .endsWith('>>');
}

/** Returns the text of the dictionary that ends before the keyword; null when its beginning is not found. */
function dictionaryBefore(pdf: Buffer, at: number): string | null {
  const text = pdf.toString('latin1', Math.max(0, at - MAX_DICTIONARY_BYTES), at);
  const object = text.lastIndexOf(OBJECT);
  const dictionary = text.slice(object + OBJECT.length).trimStart();
  return object !== -1 && dictionary.startsWith('<<') ? dictionary : null;
}

/** A stream that was read. */
interface ReadStream {
  /** Offset behind its data. */
  readonly end: number;
  /** Size in bytes. */
  readonly decompressed: number;
}

/** Returns null for a stream that was not read to its end. @throws Error for a damaged one. */
function readStream(
  pdf: Buffer,
  { start, dictionary, left }: { start: number; dictionary: string; left: number },
): ReadStream | null {
  const found = FILTERS.exec(dictionary);
  const filter = found === null ? '' : (found[1] ?? found[2])?.trim();
  if (filter === '/FlateDecode') return inflate(pdf, start, left);
  if (filter === undefined || !UNCHECKED_FILTERS.includes(filter)) return null;
  const length = LENGTH.exec(dictionary)?.[1];
  if (length === undefined) return null;
  const end = start + Number(length);
  return isEnd(pdf, end) ? { end, decompressed: 0 } : null;
}

/** Reads a deflated stream; returns null when it is too long. @throws Error for a damaged one. */
function inflate(pdf: Buffer, start: number, left: number): ReadStream | null {
  const options = { info: true, maxOutputLength: Math.max(1, Math.min(left, MAX_STREAM_BYTES)) } as const;
  let read: ReadStream;
  try {
    // With `info` the result has the engine too, which the types lack.
    const { buffer, engine } = inflateSync(pdf.subarray(start), options) as unknown as { buffer: Buffer; engine: Zlib };
    read = { end: start + engine.bytesWritten, decompressed: buffer.length };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return null;
    throw new Error(`A stream of the PDF at byte ${start} is damaged.`, { cause: error });
  }
  if (!isEnd(pdf, read.end)) throw new Error(`A stream of the PDF at byte ${start} has no end.`);
  return read;
}

/** Returns whether the keyword for the end of a stream follows, behind a line end at most. */
function isEnd(pdf: Buffer, at: number): boolean {
  return pdf
    .toString('latin1', at, at + MAX_GAP_BYTES + END_KEYWORD.length)
    .trimStart()
    .startsWith(END_KEYWORD);
}
