/**
 * Control characters, line separators and direction marks: each can falsify what a terminal or a page shows. Also halves of
 * surrogate pairs, on which PostgreSQL's operators for JSON fail.
 */
const UNPRINTABLE = String.raw`\p{Cc}\p{Cs}\u2028\u2029\u202A-\u202E\u2066-\u2069`;
const RUNS = new RegExp(`[${UNPRINTABLE}]+`, 'gu');

/** Pattern of text without unprintable characters. */
export const PLAIN_TEXT = new RegExp(`^[^${UNPRINTABLE}]*$`, 'u');

/** Returns the text on one line, cut to `maxCharacters` UTF-16 units; replaces unprintable characters by blanks. */
export function plainText(text: string, maxCharacters: number): string {
  // The cut may be inside of a surrogate pair.
  return text.replaceAll(RUNS, ' ').trim().slice(0, maxCharacters).toWellFormed();
}
