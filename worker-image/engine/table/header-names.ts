/**
 * Names for the columns of JSON output, from the cells of the first row: an empty one becomes
 * `column_<number>`, and one that was there before gets `_2`, `_3` … behind it. Pure.
 */
export function headerNames(cells: readonly string[]): string[] {
  /** Name → the number that the next cell of this name tries. */
  const taken = new Map<string, number>();
  return cells.map((cell, index) => {
    const name = firstFree(cell === '' ? `column_${index + 1}` : cell, taken);
    taken.set(name, 2);
    return name;
  });
}

function firstFree(wanted: string, taken: Map<string, number>): string {
  let number = taken.get(wanted);
  if (number === undefined) return wanted;
  while (taken.has(`${wanted}_${number}`)) number += 1;
  taken.set(wanted, number + 1);
  return `${wanted}_${number}`;
}
