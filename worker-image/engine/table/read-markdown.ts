/** Reads the first table of a Markdown file, in the form of GitHub Flavored Markdown. Linear in the length of a line. */
import { refuseWide, unparseable, type OpenText, type Row } from '#worker-image/engine/table/table-row.ts';
import { linesOf } from '#worker-image/engine/table/text-lines.ts';

const ESCAPABLE = /[!-/:-@[-`{-~]/;
const BREAKS = ['<br>', '<br/>', '<br />'] as const;

export async function* readMarkdown(open: OpenText): AsyncGenerator<Row> {
  let before: Row | null = null;
  let fence: string | null = null;
  let inTable = false;
  for await (const line of linesOf(open())) {
    if (inTable) {
      if (endsTable(line)) return;
      yield refuseWide(splitCells(line));
      continue;
    }
    fence = fenceAfter(fence, line);
    const cells = fence === null && line.includes('|') ? splitCells(line) : null;
    if (before !== null && isDelimiterRow(cells, before.length)) {
      inTable = true;
      yield refuseWide(before);
    }
    before = cells;
  }
  if (!inTable) throw unparseable('md', 'there is no table with a line of dashes below its header');
}

/** The cells of a line, with escapes resolved and `<br>` read as a line break. */
function splitCells(line: string): string[] {
  const text = line.trim();
  const cells: string[] = [];
  let cell = '';
  let at = text.startsWith('|') ? 1 : 0;
  let closed = false;
  while (at < text.length) {
    const [piece, length] = pieceAt(text, at);
    closed = piece === null;
    if (piece === null) {
      cells.push(cell.trim());
      cell = '';
    } else cell += piece;
    at += length;
  }
  if (!closed || cells.length === 0) cells.push(cell.trim());
  return cells;
}

/** What stands at the place and how long it is there; null for the end of a cell. */
function pieceAt(text: string, at: number): [string | null, number] {
  const char = text.charAt(at);
  if (char === '|') return [null, 1];
  if (char === '\\' && ESCAPABLE.test(text.charAt(at + 1))) return [text.charAt(at + 1), 2];
  const lineBreak = char === '<' ? BREAKS.find((tag) => text.startsWith(tag, at)) : undefined;
  return lineBreak === undefined ? [char, 1] : ['\n', lineBreak.length];
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
