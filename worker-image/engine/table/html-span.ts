/** How many columns and rows a cell of a page covers. Bounds and zero as in the HTML standard. */

const MAX_COLSPAN = 1000;
const MAX_ROWSPAN = 65_534;

export function colspanOf({ colspan }: Readonly<Record<string, string>>): number {
  return Math.min(MAX_COLSPAN, Math.max(1, numberIn(colspan)));
}

/** Zero stands for all rows that are left of the group. */
export function rowspanOf({ rowspan }: Readonly<Record<string, string>>): number {
  const rows = numberIn(rowspan);
  return rows === 0 ? MAX_ROWSPAN : Math.min(MAX_ROWSPAN, Math.max(1, rows));
}

function numberIn(text: string | undefined): number {
  const number = Number.parseInt(text ?? '', 10);
  return Number.isFinite(number) ? number : 1;
}
