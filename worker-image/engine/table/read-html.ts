/** Reads the first table of an HTML page. Never loads resources that the page references. */
import { Parser } from 'htmlparser2';
import { BLOCKS, CELLS, HIDDEN, isPreformatted, PARTS } from '#worker-image/engine/table/html-elements.ts';
import { colspanOf, rowspanOf } from '#worker-image/engine/table/html-span.ts';
import { displayedText, LINE_CHARS, type CellLine } from '#worker-image/engine/table/displayed-text.ts';
import {
  MAX_COLUMNS,
  refuseLong,
  refuseWide,
  unparseable,
  warnOfOtherTables,
  type OpenText,
  type TableRow,
  type Warn,
} from '#worker-image/engine/table/table-row.ts';

/** Maximum nesting depth: the parser's time grows with its square. */
const MAX_DEPTH = 5000;

interface Cell {
  readonly lines: CellLine[];
  /** Whitespace is significant, including line ends at the edges. */
  readonly preformatted: boolean;
  readonly colspan: number;
  readonly rowspan: number;
}

/** Reads the first table. Positions that a spanning cell covers are empty cells. */
export async function* readHtml(open: OpenText, warn: Warn): AsyncGenerator<TableRow> {
  const table = new FirstTable();
  for await (const text of open()) {
    yield* table.write(text);
    if (table.stopped) break;
  }
  yield* table.end();
  warnOfOtherTables(table.found, warn);
}

class FirstTable {
  /** Number of tables of the page so far, without nested ones. */
  found = 0;
  /** True when the rest of the page is nested too deep to count its tables. */
  stopped = false;
  #closed = false;
  readonly #parser: InstanceType<typeof Parser>;
  readonly #ready: TableRow[] = [];
  /** Number of open tables; a table nested in the first one is text of its cell. */
  #tables = 0;
  /** Number of open elements whose content is not displayed. */
  #hidden = 0;
  /** Number of open elements. */
  #depth = 0;
  #preformattedTable = false;
  #preformattedRow = false;
  /** Number of open `pre` elements in the cell. */
  #pre = 0;
  #row: string[] | null = null;
  /** Number of characters of the row; `LINE_CHARS` for each line break. */
  #rowChars = 0;
  #cell: Cell | null = null;
  /** Column → number of further rows that a cell above covers. */
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

  /** Yields the rows of a piece. The parser pauses at each: a `<tr>` below spanning cells is a row of up to 16,384. */
  *write(text: string): Generator<TableRow> {
    this.#parser.write(text);
    while (this.#ready.length > 0) {
      yield* this.#drain();
      if (!this.stopped) this.#parser.resume();
    }
  }

  end(): TableRow[] {
    this.#parser.end();
    if (this.found === 0) throw unparseable('html', 'the page has no table');
    return this.#drain();
  }

  #drain(): TableRow[] {
    return this.#ready.splice(0);
  }

  #open(name: string, attributes: Readonly<Record<string, string>>): void {
    this.#enter();
    if (HIDDEN.has(name)) this.#hidden += 1;
    else if (this.#hidden > 0) return;
    else if (name === 'table') this.#openTable(attributes);
    else if (this.#closed) return;
    else if (this.#tables === 1 && PARTS.has(name)) this.#openPart(name, attributes);
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
    this.#preformattedRow = isPreformatted(attributes);
  }

  #openTable(attributes: Readonly<Record<string, string>>): void {
    if (this.found === 0) this.#preformattedTable = isPreformatted(attributes);
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

  /** Begins a line at the edge of a block; adjacent edges are one line end. */
  #beginBlock(): void {
    const last = this.#cell?.lines.at(-1);
    if (last === undefined) return;
    if (last.preformatted ? last.text !== '' : /[^ \t\n\r\f]/.test(last.text)) this.#beginLine();
    // Whitespace at the start of a line is not displayed. If it stayed, every further edge would search it again.
    else this.#cell?.lines.splice(-1, 1, this.#emptyLine());
  }

  #beginLine(): void {
    if (this.#cell === null) return;
    this.#countChars(LINE_CHARS);
    this.#cell.lines.push(this.#emptyLine());
  }

  #countChars(chars: number): void {
    this.#rowChars += chars;
    refuseLong(this.#rowChars);
  }

  #emptyLine(): CellLine {
    return { text: '', preformatted: this.#isPreformatted() };
  }

  #isPreformatted(): boolean {
    return this.#pre > 0 || this.#cell?.preformatted === true;
  }

  #openCell(attributes: Readonly<Record<string, string>>): void {
    this.#closeCell();
    this.#row ??= [];
    this.#pre = 0;
    const preformatted = this.#preformattedTable || this.#preformattedRow || isPreformatted(attributes);
    this.#cell = {
      lines: [{ text: '', preformatted }],
      preformatted,
      colspan: colspanOf(attributes),
      rowspan: rowspanOf(attributes),
    };
  }

  #text(text: string): void {
    const line = this.#cell?.lines.at(-1);
    if (line === undefined || this.#hidden > 0) return;
    this.#countChars(text.length);
    line.text += text;
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
    if (HIDDEN.has(name)) this.#hidden = Math.max(0, this.#hidden - 1);
    else if (this.#hidden > 0) return;
    else if (name === 'table') this.#closeTable();
    else if (this.#closed) return;
    else if (this.#tables === 1 && PARTS.has(name)) this.#closePart(name);
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
    const { lines, preformatted, colspan, rowspan } = this.#cell;
    this.#fillCovered(this.#row);
    const first = this.#row.length;
    this.#row.push(preformatted ? lines.map(({ text }) => text).join('\n') : displayedText(lines));
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
    if (this.#row.length > 0) {
      this.#ready.push(this.#row);
      this.#parser.pause();
    }
    [this.#row, this.#rowChars] = [null, 0];
    for (const [column, rows] of this.#covered) {
      if (rows <= 1) this.#covered.delete(column);
      else this.#covered.set(column, rows - 1);
    }
  }

  /** Ends a row group: no cell spans into the next one. */
  #endGroup(): void {
    this.#closeRow();
    this.#covered.clear();
  }
}
