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

/** @throws Error when the process has ended. */
export function costOf(pid: number): ProcessCost {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mebibytes = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / 1024;
  return {
    cpu: cpuSecondsOf(pid),
    now: mebibytes('VmRSS'),
    peak: mebibytes('VmHWM'),
  };
}

/** Returns the CPU time of the process, in seconds. @throws Error when the process has ended. */
export function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}
