/**
 * Finds the encoded streams of a PDF by their keyword, not by the cross-reference table: neither a wrong length nor a
 * keyword inside a stream hides anything.
 */
import type { FileHandle } from 'node:fs/promises';
import { parseFilters, type PdfFilter } from '#worker-image/engine/pdf/decode-filters.ts';
import type { WorkBudget } from '#worker-image/engine/pdf/work-budget.ts';

const WINDOW_BYTES = 4 * 1024 ** 2;
/** Maximum length of a stream's dictionary before its keyword, in bytes. */
const DICTIONARY_BYTES = 16 * 1024;
/** Maximum encoded size of a stream that is decoded in one call, in bytes. */
const SHORT_BYTES = 64 * 1024;
/** Work of a stream besides its bytes and its dictionary, in bytes. */
const STREAM_WORK_BYTES = 1024;
const KEYWORD = Buffer.from('stream');
const OBJECT = Buffer.from(' obj');
const FILTER = Buffer.from('/Filter');
/** Begins an escaped character of a name, which may be that of the filters. */
const ESCAPE = Buffer.from('#');
/** Maximum number of `/Filter` entries of one dictionary that are tried. */
const MAX_FILTER_ENTRIES = 4;

export interface EncodedStream {
  /** Offset of the data. */
  readonly at: number;
  readonly dictionary: string;
  /** Filters in decoding order. */
  readonly filters: readonly PdfFilter[];
  /** First bytes of the data, with what follows data that is shorter. Valid until the next stream is requested. */
  readonly head: Buffer;
}

/** Yields every offset where the data of an encoded stream may begin, in file order. */
export async function* encodedStreams(
  file: FileHandle,
  { size, work }: { size: number; work: WorkBudget },
): AsyncGenerator<EncodedStream> {
  const window = Buffer.alloc(Math.min(size, WINDOW_BYTES));
  let seen = 0;
  for (let start = 0; start < size; start += WINDOW_BYTES - DICTIONARY_BYTES) {
    const { bytesRead } = await file.read(window, 0, window.length, start);
    await work.pause(bytesRead);
    let found = 0;
    for (const stream of streamsIn(window.subarray(0, bytesRead), work)) {
      await work.pause(STREAM_WORK_BYTES);
      if (start + stream.at > seen) yield { ...stream, at: start + stream.at };
      found = start + stream.at;
    }
    seen = Math.max(seen, found);
    if (start + bytesRead >= size) return;
  }
}

/** Yields the streams of a window; one whose data and dictionary disagree more than once. */
function* streamsIn(window: Buffer, work: WorkBudget): Generator<EncodedStream> {
  const objects = new LastOccurrence(window, OBJECT);
  const names = new LastOccurrence(window, FILTER);
  const escapes = new LastOccurrence(window, ESCAPE);
  for (let at = window.indexOf(KEYWORD); at !== -1; at = window.indexOf(KEYWORD, at + KEYWORD.length)) {
    const begin = dataBegin(window, at + KEYWORD.length);
    if (begin === null || begin + 2 > window.length || window.toString('latin1', at - 3, at) === 'end') continue;
    const dictionaryAt = Math.max(0, at - DICTIONARY_BYTES, objects.before(at) + 1);
    const isDeflated = hasZlibHeader(window.subarray(begin));
    const hasFilter = names.before(at) >= dictionaryAt || escapes.before(at) >= dictionaryAt;
    if (!isDeflated && !hasFilter) continue;
    work.spend(at - dictionaryAt + STREAM_WORK_BYTES);
    const dictionary = window.toString('latin1', dictionaryAt, at);
    for (const filters of filterCandidates(dictionary, isDeflated))
      yield { at: begin, dictionary, filters, head: window.subarray(begin, begin + SHORT_BYTES) };
  }
}

/** Last occurrence of a text before offsets that increase. Reads every byte once, however many offsets there are. */
class LastOccurrence {
  readonly #window: Buffer;
  readonly #text: Buffer;
  #searched = 0;
  #last = -1;

  constructor(window: Buffer, text: Buffer) {
    this.#window = window;
    this.#text = text;
  }

  /** Returns the offset of the last occurrence that ends before an offset, or -1. */
  before(at: number): number {
    const from = Math.max(0, this.#searched - this.#text.length + 1);
    const found = this.#window.subarray(from, at).lastIndexOf(this.#text);
    if (found !== -1) this.#last = from + found;
    this.#searched = at;
    return this.#last;
  }
}

/** Returns the offset after the line end that follows the keyword, or null when there is none. qpdf accepts spaces before it. */
function dataBegin(window: Buffer, keywordEnd: number): number | null {
  let at = keywordEnd;
  while (window[at] === 0x20 || window[at] === 0x09) at += 1;
  if (window[at] === 0x0a) return at + 1;
  if (window[at] !== 0x0d) return null;
  return window[at + 1] === 0x0a ? at + 2 : at + 1;
}

/** Returns whether the data begins like that of zlib: other data does not inflate. */
export function hasZlibHeader(data: Buffer): boolean {
  const start = data.readUInt16BE(0);
  return (start & 0x0f00) === 0x0800 && start >> 12 <= 7 && start % 31 === 0;
}

/** Returns filters by name and by the header of zlib data: the names may be in another object. */
function filterCandidates(dictionary: string, isDeflated: boolean): PdfFilter[][] {
  const candidates = parseFilters(dictionary).slice(0, MAX_FILTER_ENTRIES);
  if (isDeflated && !candidates.some(([first]) => first === 'flate')) candidates.push(['flate']);
  const isElsewhere = candidates.length === 0 && /\/Filter\s+\d+\s+\d+\s+R\b/.test(dictionary);
  return isElsewhere ? [['lzw']] : candidates;
}
