/** Load for the interface's benches: many connections that send the next request as soon as the last is answered. */
import { execFileSync } from 'node:child_process';
import { Pool } from 'undici';
import { cpuSecondsOf } from '#test/bench/process-cost.ts';
import { processesOf, type ProcessRole } from '#test/support/service-processes.ts';

interface Load {
  readonly baseUrl: string;
  /** PEM. */
  readonly ca: string;
  readonly connections: number;
  readonly seconds: number;
  readonly request: () => {
    readonly method: 'GET' | 'POST';
    readonly path: string;
    readonly key: string;
    readonly body?: string;
  };
  /** Any other status ends the bench. */
  readonly status: number;
}

export interface LoadResult {
  readonly perSecond: number;
  /** Milliseconds, sorted. */
  readonly latencies: readonly number[];
}

/** @throws Error when a response has another status than the wanted one. */
export async function load({ baseUrl, ca, connections, seconds, request, status }: Load): Promise<LoadResult> {
  const pool = new Pool(baseUrl, { connections, pipelining: 1, connect: { ca } });
  const latencies: number[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  const send = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const { method, path, key, body = null } = request();
      const sentAt = performance.now();
      const response = await pool.request({ method, path, body, headers: { authorization: `Bearer ${key}` } });
      const text = await response.body.text();
      if (response.statusCode !== status)
        throw new Error(`${method} ${path} was answered with ${response.statusCode}: ${text}`);
      latencies.push(performance.now() - sentAt);
    }
  };
  await Promise.all(Array.from({ length: connections }, send));
  const elapsed = (performance.now() - startedAt) / 1000;
  await pool.close();
  return { perSecond: latencies.length / elapsed, latencies: latencies.toSorted((a, b) => a - b) };
}

/** Puts the service on the first core and this process, the load, on the second. */
export function pinApart(data: string): void {
  for (const { pid } of processesOf(data)) pin(pid, 0);
  pin(process.pid, 1);
}

function pin(pid: number, core: number): void {
  try {
    execFileSync('taskset', ['-a', '-c', '-p', String(core), String(pid)], { stdio: 'ignore' });
  } catch {
    // It has ended meanwhile.
  }
}

/** Returns the CPU time that the processes of each role have used, in seconds. */
export function cpuByRole(data: string): ReadonlyMap<ProcessRole, number> {
  const seconds = new Map<ProcessRole, number>();
  for (const { pid, role } of processesOf(data)) {
    const both = role === 'backend' ? 'postgres' : role;
    seconds.set(both, (seconds.get(both) ?? 0) + cpuOf(pid));
  }
  return seconds;
}

/** 0 when the process has ended. */
function cpuOf(pid: number): number {
  try {
    return cpuSecondsOf(pid);
  } catch {
    return 0;
  }
}
