/** Temporary files, named by the process that writes them: `<pid>-<start of the process>-<random>`. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Returns a name that differs from those of an earlier process with the same process id. */
export function tempName(random: string): string {
  return `${owner()}-${random}`;
}

/** Deletes the files of processes that no longer run. */
export async function sweepTempFiles(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!isInUse(name)) await rm(join(directory, name), { force: true });
  }
}

function isInUse(name: string): boolean {
  if (name.startsWith(`${owner()}-`)) return true;
  const pid = Number(/^(\d+)-/.exec(name)?.[1]);
  return pid > 0 && pid !== process.pid && isRunning(pid);
}

function owner(): string {
  return `${process.pid}-${Math.round(performance.timeOrigin)}`;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process runs as another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
