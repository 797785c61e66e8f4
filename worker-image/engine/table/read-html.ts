/** Reads the first table of an HTML page. Never loads resources that the page references. */
import { Parser } from 'htmlparser2';
import { BLOCKS, CELLS, HIDDEN, isHidden, isPreformatted, PARTS } from '#worker-image/engine/table/html-elements.ts';
import { HtmlCell } from '#worker-image/engine/table/html-cell.ts';
import { CoveredColumns } from '#worker-image/engine/table/html-span.ts';
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

type Attributes = Readonly<Record<string, string>>;

/** Reads the first table. Positions that a spanning cell covers are empty cells. */
export async function* readHtml(open: OpenText, warn: Warn): AsyncGenerator<TableRow> {
  const table = new FirstTable();
  for await (const text of open()) {
    yield* table.write(text);
    if (table.stopped) break;
  }
  yield* table.end();
  warnOfOtherTables(table.found, warn);
  if (table.hasHiddenText) warn('Rows or cells that the page does not display were not read.');
}

class FirstTable {
  /** Number of tables of the page so far, without nested ones. */
  found = 0;
  /** True when the rest of the page is nested too deep to count its tables. */
  stopped = false;
  /** True when a hidden cell had text. */
  hasHiddenText = false;
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
  #groupIsHidden = false;
  #rowIsHidden = false;
  #row: string[] | null = null;
  /** Number of characters of the row, as its cells count them. */
  #rowChars = 0;
  #cell: HtmlCell | null = null;
  readonly #covered = new CoveredColumns();

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

  #open(name: string, attributes: Attributes): void {
    this.#enter();
    if (HIDDEN.has(name)) this.#hidden += 1;
    else if (this.#hidden > 0) return;
    else if (name === 'table') this.#openTable(attributes);
    else if (this.#closed) return;
    else if (this.#tables === 1 && PARTS.has(name)) this.#openPart(name, attributes);
    else if (BLOCKS.has(name)) this.#countChars(this.#cell?.openBlock(name));
  }

  #openPart(name: string, attributes: Attributes): void {
    if (CELLS.has(name)) this.#openCell(attributes);
    else if (name === 'tr') this.#openRow(attributes);
    else this.#beginGroup(attributes);
  }

  /** Begins a row. Elements that are open in a cell prevent the parser from closing the row before it. */
  #openRow(attributes: Attributes): void {
    this.#closeRow();
    this.#row = [];
    this.#preformattedRow = isPreformatted(attributes);
    this.#rowIsHidden = this.#groupIsHidden || isHidden(attributes);
  }

  #openTable(attributes: Attributes): void {
    if (this.found === 0) this.#preformattedTable = isPreformatted(attributes);
    if (this.#tables === 0) this.found += 1;
    this.#tables += 1;
  }

  #countChars(chars = 0): void {
    this.#rowChars += chars;
    refuseLong(this.#rowChars);
  }

  #openCell(attributes: Attributes): void {
    this.#closeCell();
    this.#row ??= [];
    this.#cell = new HtmlCell(attributes, {
      isPreformatted: this.#preformattedTable || this.#preformattedRow,
      isHidden: this.#rowIsHidden,
    });
  }

  #text(text: string): void {
    if (this.#hidden === 0) this.#countChars(this.#cell?.addText(text));
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
    else if (name !== 'br' && BLOCKS.has(name)) this.#countChars(this.#cell?.closeBlock(name));
  }

  #closePart(name: string): void {
    if (CELLS.has(name)) this.#closeCell();
    else if (name === 'tr') this.#closeRow();
    else this.#beginGroup({});
  }

  #closeTable(): void {
    if (this.#tables === 1) {
      this.#closeRow();
      this.#closed = true;
    }
    this.#tables = Math.max(0, this.#tables - 1);
  }

  #closeCell(): void {
    if (this.#cell?.isHidden === true) this.hasHiddenText ||= /\S/.test(this.#cell.text);
    else if (this.#cell !== null && this.#row !== null) this.#addCell(this.#cell, this.#row);
    this.#cell = null;
  }

  #addCell({ text, colspan, rowspan }: HtmlCell, row: string[]): void {
    this.#covered.fill(row);
    const first = row.length;
    row.push(text);
    for (let column = first + 1; column < Math.min(first + colspan, MAX_COLUMNS + 1); column += 1) row.push('');
    this.#covered.add(first, row.length, rowspan);
    refuseWide(row);
  }

  #closeRow(): void {
    this.#closeCell();
    if (this.#row !== null && !this.#rowIsHidden) this.#addRow(this.#row);
    [this.#row, this.#rowChars, this.#rowIsHidden] = [null, 0, this.#groupIsHidden];
  }

  #addRow(row: string[]): void {
    this.#covered.fill(row);
    if (row.length > 0) {
      this.#ready.push(row);
      this.#parser.pause();
    }
    this.#covered.endRow();
  }

  /** Begins a row group: no cell of the one before spans into it. */
  #beginGroup(attributes: Attributes): void {
    this.#groupIsHidden = isHidden(attributes);
    this.#closeRow();
    this.#covered.clear();
  }
}
