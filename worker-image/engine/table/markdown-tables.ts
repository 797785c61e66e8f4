/**
 * Finds the tables of a Markdown text with the block lexer of marked, in bounded memory. The text is lexed in pieces.
 * The last block of a piece may continue, so a short form of it begins the next piece.
 */
import { Lexer, Tokenizer, type Token, type Tokens } from 'marked';
import { markdownCells } from '#worker-image/engine/table/markdown-cells.ts';
import { linesOf } from '#worker-image/engine/table/text-lines.ts';

/** Minimum length of a piece, in characters. Short, because the time for a paragraph can grow with its square. */
const PIECE_CHARS = 1024;
/** Maximum length of a list or quote that is repeated, in characters; a list with a table always is. */
const MAX_CONTAINER_CHARS = 16 * 1024;
/** Maximum length of a line for marked, in characters: longer ones overflow the stack of its regular expressions. */
const LONG_LINE_CHARS = 256 * 1024;
const LONG_LINE = /\0(\d+)\0/;
/** A line that opens a hundred quotes or lists, for each of which marked recurses. */
const DEEP = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])[ \t])){100}/;
/** Replaces the header of a table that began in an earlier piece. */
const CONTINUED_TABLE = '|x|\n|-|\n';

export interface MarkdownRow {
  /** Position of the table in the text, from 1. */
  readonly table: number;
  readonly line: string;
}

/** Yields the lines of all tables that are not part of a quote, code or HTML, without their delimiter rows. */
export async function* markdownTables(text: AsyncIterable<string>): AsyncGenerator<MarkdownRow> {
  const tables = new MarkdownTables();
  for await (const line of linesOf(text)) yield* tables.write(line);
  yield* tables.end();
}

class MarkdownTables {
  #piece = '';
  /** Length at which the piece is lexed, in characters. */
  #lexAt = PIECE_CHARS;
  #tables = 0;
  readonly #longLines = new Map<number, string>();

  write(line: string): MarkdownRow[] {
    this.#piece += `${this.#shorten(line)}\n`;
    return this.#piece.length < this.#lexAt ? [] : this.#lex({ isLast: false });
  }

  end(): MarkdownRow[] {
    return this.#lex({ isLast: true });
  }

  #lex({ isLast }: { isLast: boolean }): MarkdownRow[] {
    const tokens = lexBlocks(this.#piece, (line) => this.#restore(line));
    const open = isLast ? tokens.length : tokens.findLastIndex(({ type }) => type !== 'space');
    const rows = this.#rowsOf(tokens.slice(0, open));
    const [last, ...blanks] = tokens.slice(open);
    this.#piece = '';
    if (last?.type === 'table') {
      rows.push(...this.#rowsOf([last]));
      if (blanks.length === 0) this.#piece = CONTINUED_TABLE;
    } else if (last !== undefined) this.#piece = shortForm(last) + blanks.map(({ raw }) => raw).join('');
    this.#lexAt = PIECE_CHARS + 2 * this.#piece.length;
    if (!this.#piece.includes('\0')) this.#longLines.clear();
    return rows;
  }

  #rowsOf(tokens: readonly Token[]): MarkdownRow[] {
    return tablesIn(tokens).flatMap(({ raw }) => {
      const isContinued = raw.startsWith(CONTINUED_TABLE.trimEnd());
      if (!isContinued) this.#tables += 1;
      const lines = raw.trimEnd().split('\n');
      const [header = '', , ...body] = lines;
      const shown = isContinued ? body : [header, ...body];
      return shown.map((line) => ({ table: this.#tables, line: this.#restore(line) }));
    });
  }

  #shorten(line: string): string {
    if (DEEP.test(line)) return '>';
    if (line.length <= LONG_LINE_CHARS) return line;
    const number = this.#longLines.size;
    this.#longLines.set(number, line);
    return `${line.slice(0, 2000)}\0${number}\0${line.slice(-1000)}`;
  }

  #restore(line: string): string {
    const number = LONG_LINE.exec(line)?.[1];
    return (number === undefined ? undefined : this.#longLines.get(Number(number))) ?? line;
  }
}

/** Returns the blocks of a text, without cells and inline tokens. */
function lexBlocks(text: string, restore: (line: string) => string): Token[] {
  const lexer = new Lexer({ gfm: true, tokenizer: new TableLines(restore) });
  return lexer.blockTokens(text);
}

/** Recognizes tables without creating their cells: those of a hostile row would exhaust the memory. */
class TableLines extends Tokenizer {
  readonly #restore: (line: string) => string;

  constructor(restore: (line: string) => string) {
    super();
    this.#restore = restore;
  }

  override table(text: string): Tokens.Table | undefined {
    const [raw, header, delimiter] = this.rules.block.table.exec(text) ?? [];
    if (raw === undefined || header === undefined || delimiter === undefined || !/[:|]/.test(delimiter))
      return undefined;
    if (markdownCells(this.#restore(header)).length !== markdownCells(delimiter).length) return undefined;
    return { type: 'table', raw: raw.trimEnd(), align: [], header: [], rows: [] };
  }
}

/** Returns the tables at the top level and in lists. */
function tablesIn(tokens: readonly Token[]): Token[] {
  return tokens.flatMap((token) => {
    if (token.type === 'list') return (token as Tokens.List).items.flatMap((item) => tablesIn(item.tokens));
    return token.type === 'table' ? [token] : [];
  });
}

/** Returns a short text after which marked reads the following lines as it does after the token. */
function shortForm(token: Token): string {
  const { type, raw } = token;
  const lines = raw.trimEnd().split('\n');
  const last = lines.at(-1) ?? '';
  switch (type) {
    case 'paragraph':
      // A preceding line with another number of columns, so that the last line is no delimiter row.
      return `${markdownCells(last).length === 1 ? 'x|x' : 'x'}\n${last}\n`;
    case 'code':
    case 'html':
      // The first line opens the block, the last one may close it.
      return lines.length === 1 ? `${last}\n` : `${lines[0]}\n${last}\n`;
    case 'list':
    case 'blockquote':
      return raw.length > MAX_CONTAINER_CHARS && tablesIn([token]).length === 0 ? '' : `${raw.trimEnd()}\n`;
    default:
      return '';
  }
}
