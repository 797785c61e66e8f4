/** Memory of the idle process tree, as counted by the kernel. */
import { readFileSync } from 'node:fs';
import { processesOf, type ProcessRole } from '#test/support/service-processes.ts';

export interface ProcessMemory {
  readonly role: ProcessRole;
  readonly pid: number;
  /** MiB; pages that several processes share are divided between them. */
  readonly pss: number;
  /** MiB; pages that several processes share count in each. */
  readonly rss: number;
}

const SERVERS: readonly ProcessRole[] = ['postgres', 'backend', 'redis'];

/** Returns the memory of every process of the service except PostgreSQL and Redis. */
export function idleMemory(data: string): ProcessMemory[] {
  const own = processesOf(data).filter(({ role }) => !SERVERS.includes(role));
  return own.map(({ role, pid }) => {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    return { role, pid, pss: mebibytes(rollup, 'Pss'), rss: mebibytes(rollup, 'Rss') };
  });
}

function mebibytes(rollup: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(rollup)?.[1] ?? 0) / 1024;
}
