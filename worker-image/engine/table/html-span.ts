/** Column and row spans of table cells, with the bounds of the HTML standard. */

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

function numberIn(text: string | undefined): number {
  const number = Number.parseInt(text ?? '', 10);
  return Number.isFinite(number) ? number : 1;
}
