/** Column and row spans of table cells, with the bounds of the HTML standard. */
import { MAX_COLUMNS } from '#worker-image/engine/table/table-row.ts';

const MAX_COLSPAN = 1000;
const MAX_ROWSPAN = 65_534;

/** Returns the number of columns that a cell covers. */
export function colspanOf({ colspan }: Readonly<Record<string, string>>): number {
  return Math.min(MAX_COLSPAN, Math.max(1, numberIn(colspan)));
}

/** Returns the number of rows that a cell covers. Zero means all remaining rows of the group. */
export function rowspanOf({ rowspan }: Readonly<Record<string, string>>): number {
  const rows = numberIn(rowspan);
  return rows === 0 ? MAX_ROWSPAN : Math.min(MAX_ROWSPAN, Math.max(1, rows));
}

/** Columns that cells of the rows above cover. */
export class CoveredColumns {
  /** Column → number of rows that it is covered in, including the current one. */
  readonly #rows = new Map<number, number>();

  /** Covers columns in the current row and those below. */
  add(from: number, to: number, rows: number): void {
    if (rows > 1) for (let column = from; column < to; column += 1) this.#rows.set(column, rows);
  }

  /** Appends an empty cell for each covered column that follows the last cell. */
  fill(row: string[]): void {
    while (this.#rows.has(row.length) && row.length <= MAX_COLUMNS) row.push('');
  }

  endRow(): void {
    for (const [column, rows] of this.#rows) {
      if (rows <= 1) this.#rows.delete(column);
      else this.#rows.set(column, rows - 1);
    }
  }

  clear(): void {
    this.#rows.clear();
  }
}

function numberIn(text: string | undefined): number {
  const number = Number.parseInt(text ?? '', 10);
  return Number.isFinite(number) ? number : 1;
}
