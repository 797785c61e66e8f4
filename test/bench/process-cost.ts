import { readFileSync } from 'node:fs';

export interface ProcessCost {
  /** Processor time so far, in seconds. */
  readonly cpu: number;
  /** Resident memory now and at most so far, in MiB. */
  readonly now: number;
  readonly peak: number;
}

/** Clock ticks a second, as Linux counts them on every machine. */
const TICKS = 100;

export function costOf(pid: number): ProcessCost {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mebibytes = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / 1024;
  return {
    cpu: (Number(fields[11]) + Number(fields[12])) / TICKS,
    now: mebibytes('VmRSS'),
    peak: mebibytes('VmHWM'),
  };
}
