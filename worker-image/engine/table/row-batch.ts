/** Rows of a table in one buffer, so that readers and writers handle bytes instead of a string per cell. */
import { MAX_COLUMNS, refuseColumns, type TableRow } from '#worker-image/engine/table/table-row.ts';
import { readWtf8, writeWtf8 } from '#worker-image/engine/table/wtf8.ts';

/** Numbers of cells and bytes at which a batch is full. */
const FULL_CELLS = 16 * 1024;
const FULL_BYTES = 256 * 1024;
const MAX_BYTES_PER_CHAR = 3;

/** A batch is valid until the next one is requested: its reader uses it again. */
export type TableRows = AsyncIterable<RowBatch>;

/** Rows whose cells are ranges of a buffer, in UTF-8 (`wtf8.ts`), without the quotes and escapes of the source. */
export class RowBatch {
  bytes = Buffer.alloc(0);
  /** Number of rows. */
  rows = 0;
  /** Index of each row's first cell, and behind the last row the number of cells. */
  readonly firstCells = new Uint32Array(FULL_CELLS + 1);
  /** Offset of each cell's first byte. */
  readonly starts = new Uint32Array(FULL_CELLS + MAX_COLUMNS);
  /** Offset behind each cell's last byte. */
  readonly ends = new Uint32Array(FULL_CELLS + MAX_COLUMNS);
  #cells = 0;
  #columns = 0;
  /** Number of bytes that `push` has used. */
  #used = 0;

  /** True when another row might not fit. */
  get isFull(): boolean {
    return this.#cells >= FULL_CELLS || this.rows >= FULL_CELLS || this.#used >= FULL_BYTES;
  }

  /** Number of cells in the row that is not ended. */
  get columns(): number {
    return this.#columns;
  }

  /** Adds a cell to the row that is not ended and returns its index. Cells beyond `MAX_COLUMNS` are only counted. */
  addCell(start: number, end: number): number {
    const cell = this.#cells;
    this.#columns += 1;
    if (this.#columns > MAX_COLUMNS) return cell;
    this.starts[cell] = start;
    this.ends[cell] = end;
    this.#cells = cell + 1;
    return cell;
  }

  /** @throws MediaError limit_exceeded for more than `MAX_COLUMNS` columns. */
  endRow(): void {
    refuseColumns(this.#columns);
    this.#columns = 0;
    this.rows += 1;
    this.firstCells[this.rows] = this.#cells;
  }

  /** Drops the cells of the row that is not ended. */
  dropRow(): void {
    this.#columns = 0;
    this.#cells = this.firstCells[this.rows] ?? 0;
  }

  clear(): void {
    this.rows = 0;
    this.#used = 0;
    this.dropRow();
  }

  /** Adds a row, with a copy of its cells. @throws MediaError limit_exceeded for more than `MAX_COLUMNS` columns. */
  push(row: TableRow): void {
    for (const text of row) {
      const start = this.#used;
      this.#reserve(start + text.length * MAX_BYTES_PER_CHAR);
      this.#used += writeWtf8(this.bytes, start, text);
      this.addCell(start, this.#used);
    }
    this.endRow();
  }

  /** Returns the cells of a row as text. */
  textsOf(row: number): string[] {
    const [first = 0, end = 0] = [this.firstCells[row], this.firstCells[row + 1]];
    return Array.from({ length: end - first }, (_, index) => this.textOf(first + index));
  }

  textOf(cell: number): string {
    return readWtf8(this.bytes, this.starts[cell] ?? 0, this.ends[cell] ?? 0);
  }

  #reserve(bytes: number): void {
    if (bytes <= this.bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(bytes, 2 * this.bytes.length, FULL_BYTES));
    this.bytes.copy(grown, 0, 0, this.#used);
    this.bytes = grown;
  }
}

/** Collects rows of text in batches. @throws MediaError limit_exceeded for more than `MAX_COLUMNS` columns. */
export async function* packRows(rows: AsyncIterable<TableRow>): AsyncGenerator<RowBatch> {
  const batch = new RowBatch();
  for await (const row of rows) {
    batch.push(row);
    if (!batch.isFull) continue;
    yield batch;
    batch.clear();
  }
  if (batch.rows > 0) yield batch;
}
