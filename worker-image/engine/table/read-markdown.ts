/** Reads the first table of a Markdown file, in the form of GitHub Flavored Markdown. Linear in the length of a line. */
import {
  refuseWide,
  unparseable,
  warnOfOthers,
  type OpenText,
  type Row,
  type Warn,
} from '#worker-image/engine/table/table-row.ts';
import { linesOf } from '#worker-image/engine/table/text-lines.ts';

const ESCAPABLE = /[!-/:-@[-`{-~]/;
const BREAKS = ['<br>', '<br/>', '<br />'] as const;
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };
const REFERENCE = /&(?:#(\d{1,7})|#[xX]([\dA-Fa-f]{1,6})|(amp|lt|gt|quot|apos|nbsp));/y;

export async function* readMarkdown(open: OpenText, warn: Warn): AsyncGenerator<Row> {
  let tables = 0;
  for await (const { table, row } of rowsOfTables(open)) {
    tables = table;
    if (table === 1) yield refuseWide(row);
  }
  if (tables === 0) throw unparseable('md', 'there is no table with a line of dashes below its header');
  warnOfOthers(tables, warn);
}

/** The rows of all tables; the first table is number 1. */
async function* rowsOfTables(open: OpenText): AsyncGenerator<{ table: number; row: Row }> {
  let before: Row | null = null;
  let fence: string | null = null;
  let inTable = false;
  let table = 0;
  for await (const line of linesOf(open())) {
    inTable &&= !endsTable(line);
    if (inTable) {
      yield { table, row: splitCells(line) };
      continue;
    }
    fence = fenceAfter(fence, line);
    const cells = fence === null && line.includes('|') ? splitCells(line) : null;
    if (before !== null && isDelimiterRow(cells, before.length)) {
      inTable = true;
      table += 1;
      yield { table, row: before };
    }
    before = cells;
  }
}

/** The cells of a line, with escapes and character references resolved and `<br>` read as a line break. */
function splitCells(line: string): string[] {
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

/** Blanks around the text are the line's; those that are spelled as references are the cell's. */
function cellText(source: string): string {
  const text = source.trim();
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const [piece, length] = pieceAt(text, at);
    pieces.push(piece);
    at += length;
  }
  return pieces.join('');
}

/** What stands at the place and how long it is there. */
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

/** Dashes below each cell of the header. */
function isDelimiterRow(cells: Row | null, columns: number): boolean {
  return cells?.length === columns && cells.every((cell) => /^:?-+:?$/.test(cell));
}

/** A blank line or another block. */
function endsTable(line: string): boolean {
  return line.trim() === '' || /^ {0,3}(?:#{1,6}\s|>|```|~~~)/.test(line);
}

/** The fence of the code block that the next line is in; null outside of one. */
function fenceAfter(fence: string | null, line: string): string | null {
  const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]?.slice(0, 3) ?? null;
  if (mark === null) return fence;
  if (fence === null) return mark;
  return mark === fence ? null : fence;
}
