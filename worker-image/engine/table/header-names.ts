/**
 * Returns the column names of JSON output, from the cells of the first row. An empty cell becomes
 * `column_<number>`; a repeated name gets the suffix `_2`, `_3` … Pure.
 */
export function headerNames(cells: readonly string[]): string[] {
  /** Name → the next suffix to try for it. */
  const taken = new Map<string, number>();
  return cells.map((cell, index) => {
    const name = unusedName(cell === '' ? `column_${index + 1}` : cell, taken);
    taken.set(name, 2);
    return name;
  });
}

function unusedName(wanted: string, taken: Map<string, number>): string {
  let number = taken.get(wanted);
  if (number === undefined) return wanted;
  while (taken.has(`${wanted}_${number}`)) number += 1;
  taken.set(wanted, number + 1);
  return `${wanted}_${number}`;
}
