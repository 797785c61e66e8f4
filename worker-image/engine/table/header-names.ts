/**
 * Names for the columns of JSON output, from the cells of the first row: an empty one becomes
 * `column_<number>`, and one that was there before gets `_2`, `_3` … behind it. Pure.
 */
export function headerNames(cells: readonly string[]): string[] {
  const taken = new Set<string>();
  return cells.map((cell, index) => {
    const name = firstFree(cell === '' ? `column_${index + 1}` : cell, taken);
    taken.add(name);
    return name;
  });
}

function firstFree(wanted: string, taken: ReadonlySet<string>): string {
  if (!taken.has(wanted)) return wanted;
  let number = 2;
  while (taken.has(`${wanted}_${number}`)) number += 1;
  return `${wanted}_${number}`;
}
