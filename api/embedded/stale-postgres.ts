import { readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { StartError } from '#api/embedded/start-error.ts';

const SHUTDOWN_MS = 15_000;
/** Time after which the start fails, in milliseconds. */
const MAX_WAIT_MS = 60_000;
const POLL_MS = 50;

/**
 * Prepares a new start after the server or its parent was killed: waits until all its processes have ended, ends them
 * after 15 seconds, then removes the pid file. Its pid may belong to another program by now, which would keep the
 * server from starting. Its processes are those of the program `postgres` whose working directory is the cluster's folder.
 * @throws StartError when one has not ended after a minute.
 */
export async function endStalePostgres(cluster: string): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    const pids = processesIn(cluster);
    if (pids.length === 0) break;
    if (waitedMs >= MAX_WAIT_MS) {
      throw new StartError(
        `PostgreSQL still runs in ${cluster}: end the processes ${pids.join(', ')}, then start again.`,
      );
    }
    if (waitedMs >= SHUTDOWN_MS) for (const pid of pids) endProcess(pid);
    await delay(POLL_MS);
  }
  rmSync(path.join(cluster, 'postmaster.pid'), { force: true });
}

function processesIn(folder: string): number[] {
  const { dev, ino } = statSync(folder);
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && isIn(pid, { dev, ino }));
}

/** Returns false for a process that has ended, or whose working directory may not be read. */
function isIn(pid: number, { dev, ino }: { dev: number; ino: number }): boolean {
  try {
    const there = statSync(`/proc/${pid}/cwd`);
    // A shell or an editor may be in the folder too. The path ends with " (deleted)" after an upgrade.
    return (
      there.dev === dev && there.ino === ino && /\/postgres( \(deleted\))?$/.test(readlinkSync(`/proc/${pid}/exe`))
    );
  } catch {
    return false;
  }
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGQUIT');
  } catch {
    // It has ended meanwhile.
  }
}
