/** Reads the first table of an HTML page. Nothing that the page names is ever loaded. */
import { Parser } from 'htmlparser2';
import { BLOCKS, CELLS, PARTS, SILENT } from '#worker-image/engine/table/html-elements.ts';
import { colspanOf, rowspanOf } from '#worker-image/engine/table/html-span.ts';
import { plainText, type Line } from '#worker-image/engine/table/plain-text.ts';
import {
  MAX_COLUMNS,
  refuseLong,
  refuseWide,
  unparseable,
  warnOfOthers,
  type OpenText,
  type Row,
  type Warn,
} from '#worker-image/engine/table/table-row.ts';

/** The parser's time grows with the square of the depth. */
const MAX_DEPTH = 5000;

/** Styles that show blanks and line ends as they stand. */
const EXACT = /(?:^|[;\s])white-space\s*:\s*(?:pre|pre-wrap|break-spaces)\s*(?:;|!|$)/i;

interface Cell {
  readonly lines: Line[];
  /** Everything in it counts, line ends at its edges too. */
  readonly exact: boolean;
  chars: number;
  readonly colspan: number;
  readonly rowspan: number;
}

/** Cells that span columns or rows leave the places behind them empty. */
export async function* readHtml(open: OpenText, warn: Warn): AsyncGenerator<Row> {
  const table = new FirstTable();
  for await (const text of open()) {
    yield* table.write(text);
    if (table.stopped) break;
  }
  yield* table.end();
  warnOfOthers(table.found, warn);
}

/** A class, because the parser's events share the place in the table. */
class FirstTable {
  /** Tables of the page so far, without those inside of others. */
  found = 0;
  /** The rest of the page is nested too deep; its tables are not counted. */
  stopped = false;
  #closed = false;
  readonly #parser: InstanceType<typeof Parser>;
  #ready: Row[] = [];
  /** Tables that are open; those inside of the first are text of their cell. */
  #tables = 0;
  #silent = 0;
  /** Elements that are open. */
  #depth = 0;
  #exactTable = false;
  #exactRow = false;
  /** `pre` elements that are open in the cell. */
  #pre = 0;
  #row: string[] | null = null;
  #cell: Cell | null = null;
  /** Column → rows below that a cell above still covers. */
  #covered = new Map<number, number>();

  constructor() {
    this.#parser = new Parser(
      {
        onopentag: (name, attributes) => this.#open(name, attributes),
        ontext: (text) => this.#text(text),
        onclosetag: (name) => this.#close(name),
      },
      { decodeEntities: true, lowerCaseTags: true },
    );
  }

  write(text: string): Row[] {
    this.#parser.write(text);
    return this.#drain();
  }

  end(): Row[] {
    this.#parser.end();
    if (this.found === 0) throw unparseable('html', 'the page has no table');
    return this.#drain();
  }

  #drain(): Row[] {
    const rows = this.#ready;
    this.#ready = [];
    return rows;
  }

  #open(name: string, attributes: Readonly<Record<string, string>>): void {
    this.#enter();
    if (name === 'table') this.#openTable(attributes);
    else if (this.#closed) return;
    else if (this.#tables === 1 && PARTS.has(name)) this.#openPart(name, attributes);
    else if (SILENT.has(name)) this.#silent += 1;
    else if (name === 'br') this.#beginLine();
    else if (BLOCKS.has(name)) this.#openBlock(name);
  }

  #openPart(name: string, attributes: Readonly<Record<string, string>>): void {
    if (CELLS.has(name)) this.#openCell(attributes);
    else if (name === 'tr') this.#openRow(attributes);
    else this.#endGroup();
  }

  #openRow(attributes: Readonly<Record<string, string>>): void {
    this.#row ??= [];
    this.#exactRow = isExact(attributes);
  }

  #openTable(attributes: Readonly<Record<string, string>>): void {
    if (this.found === 0) this.#exactTable = isExact(attributes);
    if (this.#tables === 0) this.found += 1;
    this.#tables += 1;
  }

  #openBlock(name: string): void {
    if (name === 'pre') this.#pre += 1;
    this.#beginBlock();
  }

  #closeBlock(name: string): void {
    if (name === 'pre') this.#pre = Math.max(0, this.#pre - 1);
    this.#beginBlock();
  }

  /** A block begins a line of its own; two edges that meet are one line end. */
  #beginBlock(): void {
    const last = this.#cell?.lines.at(-1);
    if (last === undefined) return;
    if (last.exact ? last.text !== '' : /[^ \t\n\r\f]/.test(last.text)) this.#beginLine();
    else if (last.exact !== this.#isExact()) this.#cell?.lines.splice(-1, 1, this.#emptyLine());
  }

  #beginLine(): void {
    this.#cell?.lines.push(this.#emptyLine());
  }

  #emptyLine(): Line {
    return { text: '', exact: this.#isExact() };
  }

  #isExact(): boolean {
    return this.#pre > 0 || this.#cell?.exact === true;
  }

  #openCell(attributes: Readonly<Record<string, string>>): void {
    this.#closeCell();
    this.#row ??= [];
    this.#pre = 0;
    const exact = this.#exactTable || this.#exactRow || isExact(attributes);
    this.#cell = {
      lines: [{ text: '', exact }],
      exact,
      chars: 0,
      colspan: colspanOf(attributes),
      rowspan: rowspanOf(attributes),
    };
  }

  #text(text: string): void {
    if (this.#cell === null || this.#silent > 0) return;
    this.#cell.chars += text.length;
    refuseLong(this.#cell.chars);
    const line = this.#cell.lines.at(-1);
    if (line !== undefined) line.text += text;
  }

  #enter(): void {
    this.#depth += 1;
    if (this.#depth <= MAX_DEPTH) return;
    if (!this.#closed) throw unparseable('html', `its elements are nested more than ${MAX_DEPTH} deep`);
    this.stopped = true;
    this.#parser.pause();
  }

  #close(name: string): void {
    this.#depth -= 1;
    if (name === 'table') this.#closeTable();
    else if (this.#closed) return;
    else if (this.#tables === 1 && PARTS.has(name)) this.#closePart(name);
    else if (SILENT.has(name)) this.#silent = Math.max(0, this.#silent - 1);
    else if (name !== 'br' && BLOCKS.has(name)) this.#closeBlock(name);
  }

  #closePart(name: string): void {
    if (CELLS.has(name)) this.#closeCell();
    else if (name === 'tr') this.#closeRow();
    else this.#endGroup();
  }

  #closeTable(): void {
    if (this.#tables === 1) {
      this.#closeRow();
      this.#closed = true;
    }
    this.#tables = Math.max(0, this.#tables - 1);
  }

  #closeCell(): void {
    if (this.#cell === null || this.#row === null) return;
    const { lines, exact, colspan, rowspan } = this.#cell;
    this.#fillCovered(this.#row);
    const first = this.#row.length;
    this.#row.push(exact ? lines.map(({ text }) => text).join('\n') : plainText(lines));
    for (let column = first + 1; column < Math.min(first + colspan, MAX_COLUMNS + 1); column += 1) this.#row.push('');
    if (rowspan > 1)
      for (let column = first; column < this.#row.length; column += 1) this.#covered.set(column, rowspan);
    refuseWide(this.#row);
    this.#cell = null;
  }

  #fillCovered(row: string[]): void {
    while (this.#covered.has(row.length) && row.length <= MAX_COLUMNS) row.push('');
  }

  #closeRow(): void {
    this.#closeCell();
    if (this.#row === null) return;
    this.#fillCovered(this.#row);
    if (this.#row.length > 0) this.#ready.push(this.#row);
    this.#row = null;
    for (const [column, rows] of this.#covered) {
      if (rows <= 1) this.#covered.delete(column);
      else this.#covered.set(column, rows - 1);
    }
  }

  /** No cell reaches into the next group of rows. */
  #endGroup(): void {
    this.#closeRow();
    this.#covered.clear();
  }
}

function isExact(attributes: Readonly<Record<string, string>>): boolean {
  return EXACT.test(attributes['style'] ?? '');
}
