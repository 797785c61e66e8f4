/** Files that are being written, named by the process that writes them: `<pid>-<its start>-<random>`. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** A name that tells this process's own files from those of an earlier process with the same number. */
export function tempName(random: string): string {
  return `${owner()}-${random}`;
}

/** Removes the files of writers that no longer run. */
export async function sweepTempFiles(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!isHeld(name)) await rm(join(directory, name), { force: true });
  }
}

function isHeld(name: string): boolean {
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
    // EPERM: it runs as another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
