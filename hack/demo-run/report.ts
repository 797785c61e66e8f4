/** Progress while the jobs run and the table at the end. */
export interface DemoOutcome {
  readonly file: string;
  readonly kind: string;
  readonly operation: string;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly savingsPercent: number;
  readonly seconds: number;
}

/** Returns a writer of one line per file: rewritten on a terminal, else written when the status changes. */
export function makeProgress(out: NodeJS.WriteStream): {
  show: (file: string, status: string, detail: string) => void;
  done: () => void;
} {
  let last = '';
  return {
    show: (file, status, detail) => {
      const line = `${file.padEnd(28)} ${status}${detail === '' ? '' : ` ${detail}`}`;
      if (out.isTTY) out.write(`\r\x1b[2K${line}`);
      else if (`${file} ${status}` !== last) out.write(`${line}\n`);
      last = `${file} ${status}`;
    },
    done: () => {
      if (out.isTTY) out.write('\n');
    },
  };
}

export function table(outcomes: readonly DemoOutcome[]): string {
  const rows = [
    ['kind', 'operation', 'file', 'bytes in', 'bytes out', 'savings', 'seconds'],
    ...outcomes.map((one) => [
      one.kind,
      one.operation,
      one.file,
      String(one.bytesIn),
      String(one.bytesOut),
      `${one.savingsPercent.toFixed(1)} %`,
      one.seconds.toFixed(1),
    ]),
  ];
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const isNumber = (column: number): boolean => column > 2;
  const cell = (text: string, column: number): string =>
    isNumber(column) ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0);
  return rows.map((row) => `${row.map(cell).join('  ').trimEnd()}\n`).join('');
}
