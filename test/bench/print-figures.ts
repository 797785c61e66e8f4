/** One line: a name and its figures, in columns. */
export function print(name: string, ...columns: readonly string[]): void {
  process.stdout.write(`${name.padEnd(48)}${columns.map((column) => column.padStart(11)).join('')}\n`);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [below, above] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  return ((below ?? 0) + (above ?? 0)) / 2;
}
