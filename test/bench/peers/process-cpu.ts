/** Seconds of CPU that processes take while something runs, also of those that begin and end meanwhile. */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const SAMPLE_MS = 40;
const TICKS_PER_SECOND = 100;

export interface CpuOfProcess<P> {
  /** As it was listed the last time. */
  readonly process: P;
  readonly seconds: number;
}

/**
 * Returns the CPU time of each process while the work ran. It misses the time after the last sample of a process. Its parent is not
 * asked: processes that are killed with their namespace are nobody's children at the end.
 * @param list - Called for each measurement, which takes some CPU time: not while seconds are measured.
 */
export async function cpuOfEach<P extends { readonly pid: number }>(
  list: () => readonly P[],
  work: () => Promise<unknown>,
): Promise<readonly CpuOfProcess<P>[]> {
  const before = new Map(list().map(({ pid }) => [pid, ticksOf(pid)]));
  const last = new Map<number, { process: P; ticks: number }>();
  const look = (): void => {
    for (const process of list()) {
      const ticks = Math.max(last.get(process.pid)?.ticks ?? 0, ticksOf(process.pid));
      last.set(process.pid, { process, ticks });
    }
  };
  let isOver = false;
  const ended = work().finally(() => (isOver = true));
  while (!isOver) {
    look();
    await delay(SAMPLE_MS);
  }
  look();
  await ended;
  return [...last.values()].map(({ process, ticks }) => ({
    process,
    seconds: (ticks - (before.get(process.pid) ?? 0)) / TICKS_PER_SECOND,
  }));
}

/** Returns the CPU time of all processes together, in seconds, as {@link cpuOfEach} measures it. */
export async function cpuOfWork<P extends { readonly pid: number }>(
  list: () => readonly P[],
  work: () => Promise<unknown>,
): Promise<number> {
  return (await cpuOfEach(list, work)).reduce((sum, { seconds }) => sum + seconds, 0);
}

/** Returns the time of the process alone; 0 when it has ended. */
function ticksOf(pid: number): number {
  try {
    const [, after = ''] = /^.*\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    const fields = after.split(' ');
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return 0;
  }
}
