/** Streams of a PDF file. Source: ISO 32000-2, 7.3.8 and 7.4. */
import { inflateSync, type Zlib } from 'node:zlib';

const [KEYWORD, END_KEYWORD, OBJECT] = ['stream', 'endstream', 'obj'];
/** Maximum size of a dictionary, and of the end of it or of a stream with the whitespace around, in bytes. */
const [MAX_DICTIONARY_BYTES, MAX_GAP_BYTES] = [4096, 4];
/** Maximum size of a decompressed stream, in bytes. */
const MAX_STREAM_BYTES = 256 * 1024 ** 2;
const FILTERS = /\/Filter\s*(?:\[\s*([^\]]*)\]|(\/\w+))/;
/** Filters of images, whose data no PDF reader checks. */
const IMAGE_FILTERS: readonly string[] = ['/DCTDecode', '/JPXDecode', '/CCITTFaxDecode', '/JBIG2Decode'];

/**
 * Decompresses every deflated stream to its end and compares its checksum. Returns false when a stream has other filters, or
 * one decompresses to more than 256 MiB: then not all were read.
 * @throws Error for a damaged stream.
 */
export function checkStreams(pdf: Buffer): boolean {
  let isAllRead = true;
  for (let at = pdf.indexOf(KEYWORD); at !== -1; at = pdf.indexOf(KEYWORD, at)) {
    const dictionary = dictionaryBefore(pdf, at);
    at += KEYWORD.length;
    if (dictionary === null) continue;
    const [, several, single = ''] = FILTERS.exec(dictionary) ?? [];
    const filter = (several ?? single).trim();
    if (filter === '/FlateDecode') {
      const end = endOfDeflated(pdf, at);
      if (end === null) isAllRead = false;
      else at = end;
    } else if (filter !== '' && !IMAGE_FILTERS.includes(filter)) isAllRead = false;
  }
  return isAllRead;
}

/** Returns the text of the dictionary that ends before the keyword; null when it is no keyword. */
function dictionaryBefore(pdf: Buffer, at: number): string | null {
  if (
    !pdf
      .toString('latin1', Math.max(0, at - MAX_GAP_BYTES), at)
      .trimEnd()
      .endsWith('>>')
  )
    return null;
  const text = pdf.toString('latin1', Math.max(0, at - MAX_DICTIONARY_BYTES), at);
  return text.slice(Math.max(0, text.lastIndexOf(OBJECT)));
}

/** Returns the offset after a deflated stream; null when it is too long. @throws Error for a damaged one. */
function endOfDeflated(pdf: Buffer, afterKeyword: number): number | null {
  const start = pdf[afterKeyword] === 0x0d ? afterKeyword + 2 : afterKeyword + 1;
  const options = { info: true, maxOutputLength: MAX_STREAM_BYTES } as const;
  let end: number;
  try {
    // With `info` the result has the engine too, which the types lack.
    const { engine } = inflateSync(pdf.subarray(start), options) as unknown as { engine: Zlib };
    end = start + engine.bytesWritten;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return null;
    throw new Error(`A stream of the PDF at byte ${start} is damaged.`, { cause: error });
  }
  const after = pdf.toString('latin1', end, end + MAX_GAP_BYTES + END_KEYWORD.length);
  if (!after.trimStart().startsWith(END_KEYWORD)) throw new Error(`A stream of the PDF at byte ${start} has no end.`);
  return end;
}
