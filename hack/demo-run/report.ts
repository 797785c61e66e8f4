/** Progress while the jobs run and the table at the end. */
export interface DemoOutcome {
  readonly file: string;
  readonly kind: string;
  readonly operation: string;
  readonly bytesIn: number;
  readonly bytesOut: number;
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

/** Returns a table of the outcomes with a line of totals. */
export function table(outcomes: readonly DemoOutcome[]): string {
  const sum = (of: (one: DemoOutcome) => number): number => outcomes.reduce((total, one) => total + of(one), 0);
  const total = { bytesIn: sum((one) => one.bytesIn), bytesOut: sum((one) => one.bytesOut) };
  const rows = [
    ['kind', 'operation', 'file', 'size', 'seconds'],
    ...outcomes.map((one) => [one.kind, one.operation, one.file, change(one), one.seconds.toFixed(1)]),
    ['total', '', counted(outcomes.length), change(total), sum((one) => one.seconds).toFixed(1)],
  ];
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const cell = (text: string, column: number): string =>
    column === 4 ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0);
  return rows.map((row) => `${row.map(cell).join('  ').trimEnd()}\n`).join('');
}

function counted(files: number): string {
  return files === 1 ? '1 file' : `${files} files`;
}

/** Returns sizes before and after, such as `846 KB → 114 KB, 87 % smaller`. */
function change({ bytesIn, bytesOut }: Pick<DemoOutcome, 'bytesIn' | 'bytesOut'>): string {
  const percent = bytesIn === 0 ? 0 : Math.round(Math.abs(1 - bytesOut / bytesIn) * 100);
  const comparison = percent === 0 ? 'same size' : `${percent} % ${bytesOut < bytesIn ? 'smaller' : 'larger'}`;
  return `${size(bytesIn)} → ${size(bytesOut)}, ${comparison}`;
}

/** Returns a size in binary units, as the API counts. */
function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const kilobytes = Math.round(bytes / 1024);
  return kilobytes < 1024 ? `${kilobytes} KB` : `${(bytes / 1024 ** 2).toFixed(1)} MB`;
}
