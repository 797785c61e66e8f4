/** Seconds of CPU that processes take while something runs, also of those that begin and end meanwhile. */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const SAMPLE_MS = 40;
const TICKS_PER_SECOND = 100;

/**
 * Returns the CPU time of the processes while the work ran, in seconds. It misses the time after the last sample of a process. Its parent is not
 * asked: processes that are killed with their namespace are nobody's children at the end.
 * @param pids - Called for each measurement, which takes some CPU time: not while seconds are measured.
 */
export async function cpuOfWork(pids: () => readonly number[], work: () => Promise<unknown>): Promise<number> {
  const before = new Map(pids().map((pid) => [pid, ticksOf(pid)]));
  const last = new Map<number, number>();
  const look = (): void => {
    for (const pid of pids()) last.set(pid, Math.max(last.get(pid) ?? 0, ticksOf(pid)));
  };
  let isOver = false;
  const ended = work().finally(() => (isOver = true));
  while (!isOver) {
    look();
    await delay(SAMPLE_MS);
  }
  look();
  await ended;
  const ticks = [...last].reduce((sum, [pid, now]) => sum + now - (before.get(pid) ?? 0), 0);
  return ticks / TICKS_PER_SECOND;
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
