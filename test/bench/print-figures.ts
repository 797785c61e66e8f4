/** One line: a name and its figures, in columns. */
export function print(name: string, ...columns: readonly string[]): void {
  process.stdout.write(`${name.padEnd(48)}${columns.map((column) => column.padStart(11)).join('')}\n`);
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
