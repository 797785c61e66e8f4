import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const SHUTDOWN_MS = 15_000;
const POLL_MS = 50;

/**
 * Clears the way for a new server after the last one, or its parent, was killed: waits until every
 * process of it is gone, ends them when that takes too long, and only then removes the pid file. (Its
 * number may belong to a stranger by now, who would keep the new server from starting.)
 * A process is known by the cluster's name, which PostgreSQL puts into the title of each.
 */
export async function endStalePostgres({
  cluster,
  clusterName,
}: {
  cluster: string;
  clusterName: string;
}): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    const pids = processesNamed(clusterName);
    if (pids.length === 0) break;
    if (waitedMs >= SHUTDOWN_MS) for (const pid of pids) endProcess(pid);
    await delay(POLL_MS);
  }
  rmSync(path.join(cluster, 'postmaster.pid'), { force: true });
}

function processesNamed(clusterName: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && titleOf(pid).includes(clusterName));
}

/** Empty for a process that is gone, or is dead and not yet waited for. */
function titleOf(pid: number): string {
  try {
    const title = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return title.includes('postgres') ? title : '';
  } catch {
    return '';
  }
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGQUIT');
  } catch {
    // It ended by itself meanwhile.
  }
}
