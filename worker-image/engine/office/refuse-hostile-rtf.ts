import { createReadStream } from 'node:fs';
import { MediaError } from '#crds/contract/media-error.ts';
import { refuseTooManyPages } from '#worker-image/engine/office/refuse-too-many-pages.ts';

/** `\bin` with its number of data bytes, a page break, an escaped character, or the start or end of a group. */
const TOKENS = /\\bin(\d{1,12}) ?|\\(?:page|sect)(?![a-z])|\\[\\{}]|[{}]/g;
const OVERLAP = 32;
/** Groups inside of groups. LibreOffice's time grows with the square: 5,000 take seconds, 20,000 a minute. */
const MAX_DEPTH = 5000;

/**
 * Refuses an RTF that declares more data than it has, which LibreOffice skips for minutes, too many pages, or groups that are
 * nested too deeply.
 * @throws MediaError processing_failed when the file is shorter than it declares, limit_exceeded for too many pages or
 * levels.
 */
export async function refuseHostileRtf(
  { path, size }: { path: string; size: number },
  signal: AbortSignal,
): Promise<void> {
  const counts = new RtfCounts(size);
  let tail = '';
  let start = 0;
  for await (const chunk of createReadStream(path, { encoding: 'latin1', signal })) {
    const text = tail + String(chunk);
    const cut = Math.max(0, text.length - OVERLAP);
    counts.read(text, { start, cut });
    tail = text.slice(cut);
    start += cut;
  }
  counts.read(tail, { start, cut: tail.length });
}

/** Page breaks and open groups of the text so far. Tokens inside of binary data are skipped. */
class RtfCounts {
  readonly #size: number;
  #breaks = 0;
  #depth = 0;
  /** Offset in the file up to which tokens have been read, or are binary data. */
  #readTo = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** Reads the tokens that begin before `cut`: a later one is complete with the next chunk only. */
  read(text: string, { start, cut }: { start: number; cut: number }): void {
    for (const { index, 0: token, 1: bytes } of text.matchAll(TOKENS)) {
      if (index >= cut) break;
      if (start + index < this.#readTo) continue;
      this.#readTo = start + index + token.length + Number(bytes ?? 0);
      if (Number(bytes ?? 0) > this.#size) throw truncatedRtf(Number(bytes), this.#size);
      this.#count(token);
    }
    refuseTooManyPages(this.#breaks);
  }

  #count(token: string): void {
    if (token === '{') this.#depth += 1;
    else if (token === '}') this.#depth -= 1;
    else if (token.startsWith('\\page') || token.startsWith('\\sect')) this.#breaks += 1;
    if (this.#depth > MAX_DEPTH) throw tooDeep();
  }
}

function truncatedRtf(claimed: number, size: number): MediaError {
  return new MediaError(
    'processing_failed',
    `The rtf file is damaged or truncated: it declares a data block of ${claimed} bytes and has ${size} bytes in total.`,
  );
}

function tooDeep(): MediaError {
  return new MediaError(
    'limit_exceeded',
    `The rtf file has groups nested more than ${MAX_DEPTH} levels deep, which is the maximum. Save it again with a word processor.`,
  );
}
