/** The most memory that processes hold together while something runs. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const SAMPLE_MS = 100;

/**
 * Returns the peak memory of the processes while the work ran, in MiB; pages that several of them share are divided
 * between those. Looking takes some CPU: not while seconds count.
 * @param pids - Called for each measurement.
 */
export async function peakMemory(pids: () => readonly number[], work: () => Promise<unknown>): Promise<number> {
  let isOver = false;
  let peak = 0;
  const ended = work().finally(() => (isOver = true));
  ended.catch(() => undefined);
  while (!isOver) {
    peak = Math.max(
      peak,
      pids().reduce((sum, pid) => sum + mebibytesOf(pid), 0),
    );
    await delay(SAMPLE_MS);
  }
  await ended;
  return peak;
}

/** Returns the ids of a process and its descendants. */
export function treeOf(root: number): number[] {
  const parents = new Map(
    readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0)
      .map((pid) => [pid, parentOf(pid)] as const),
  );
  const isBelow = (pid: number): boolean => {
    for (let at = pid; at > 0; at = parents.get(at) ?? 0) if (at === root) return true;
    return false;
  };
  return [...parents.keys()].filter(isBelow);
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)/m.exec(read(pid, 'status'))?.[1] ?? 0);
}

/** Returns the proportional set size, or its anonymous part, in MiB; 0 when the process has ended. */
export function mebibytesOf(pid: number, what: 'Pss' | 'Pss_Anon' = 'Pss'): number {
  return Number(new RegExp(`^${what}:\\s+(\\d+)`, 'm').exec(read(pid, 'smaps_rollup'))?.[1] ?? 0) / 1024;
}

/** Returns an empty text when the process has ended. */
function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
