/** Reads the cells of a Markdown table row. Linear in the length of the row. */

const ESCAPABLE = /[!-/:-@[-`{-~]/;
const BREAKS = ['<br>', '<br/>', '<br />'] as const;
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };
const BACKTICKS = /`+/g;
const NO_RUNS: ReadonlyMap<number, number> = new Map();
const REFERENCE = /&(?:#(\d{1,7})|#[xX]([\dA-Fa-f]{1,6})|(amp|lt|gt|quot|apos|nbsp));/y;

/**
 * Splits a row into the text of its cells: resolves escapes and character references, reads `<br>` as a line break. Code
 * spans are literal and keep their backticks, so only escaped bars are resolved in them.
 */
export function markdownCells(line: string): string[] {
  const text = line.trim();
  const cells: string[] = [];
  let from = text.startsWith('|') ? 1 : 0;
  for (let at = from; at < text.length; at += 1) {
    if (text.charAt(at) === '\\') at += 1;
    else if (text.charAt(at) === '|') {
      cells.push(cellText(text.slice(from, at)));
      from = at + 1;
    }
  }
  if (from < text.length || cells.length === 0) cells.push(cellText(text.slice(from)));
  return cells;
}

/** Trims the source only: white space that is written as a character reference belongs to the cell. */
function cellText(source: string): string {
  const text = source.trim();
  const pieces: string[] = [];
  const lastRuns = text.includes('`') ? lastBackticks(text) : NO_RUNS;
  for (let at = 0; at < text.length;) {
    const [piece, length] = text.charAt(at) === '`' ? codeAt(text, at, lastRuns) : pieceAt(text, at);
    pieces.push(piece);
    at += length;
  }
  return pieces.join('');
}

/** Returns the offset of the last run of backticks of each length. */
function lastBackticks(text: string): ReadonlyMap<number, number> {
  const runs = new Map<number, number>();
  for (const { 0: run, index } of text.matchAll(/`+/g)) runs.set(run.length, index);
  return runs;
}

/** Returns a code span, or backticks that begin none. Linear: a run that ends the span is searched only if there is one. */
function codeAt(text: string, at: number, lastRuns: ReadonlyMap<number, number>): [string, number] {
  BACKTICKS.lastIndex = at;
  const opening = BACKTICKS.exec(text)?.[0] ?? '';
  if ((lastRuns.get(opening.length) ?? at) <= at) return [opening, opening.length];
  let closing = '';
  while (closing.length !== opening.length) closing = BACKTICKS.exec(text)?.[0] ?? opening;
  const source = text.slice(at, BACKTICKS.lastIndex);
  return [source.replaceAll(String.raw`\|`, '|'), source.length];
}

/** Returns the text that the source at an offset stands for, and the length of that source. */
function pieceAt(text: string, at: number): [string, number] {
  const char = text.charAt(at);
  if (char === '\\' && ESCAPABLE.test(text.charAt(at + 1))) return [text.charAt(at + 1), 2];
  if (char === '&') return referenceAt(text, at) ?? [char, 1];
  const lineBreak = char === '<' ? BREAKS.find((tag) => text.startsWith(tag, at)) : undefined;
  return lineBreak === undefined ? [char, 1] : ['\n', lineBreak.length];
}

function referenceAt(text: string, at: number): [string, number] | null {
  REFERENCE.lastIndex = at;
  const [whole, decimal, hex, name] = REFERENCE.exec(text) ?? [];
  if (whole === undefined) return null;
  if (name !== undefined) return [NAMED[name] ?? '', whole.length];
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
  return [code > 0 && code <= 0x10_ffff ? String.fromCodePoint(code) : '\ufffd', whole.length];
}
