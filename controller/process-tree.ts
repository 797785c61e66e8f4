import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

const LOOKS = 200;
const LOOK_EVERY_MS = 10;

/**
 * Kills every process whose TMPDIR is the directory or below it, and returns when none is left. The
 * worker and its tools have theirs there, so that this also finds tools that lost their parent or
 * left its process group. Linux only: elsewhere there is no /proc and nothing is found.
 * @throws Error when a process survives SIGKILL for 2 seconds.
 */
export async function killProcessesOf(directory: string): Promise<void> {
  for (let look = 0; look < LOOKS; look += 1) {
    const pids = await processesOf(directory);
    if (pids.length === 0) return;
    pids.forEach(kill);
    await wait(LOOK_EVERY_MS);
  }
  throw new Error(`Processes of ${directory} survive SIGKILL: ${(await processesOf(directory)).join(', ')}.`);
}

/** Process ids; a process that has ended and was not waited for does not count. */
export async function processesOf(directory: string): Promise<number[]> {
  const entries = await readdir('/proc').catch(() => []);
  const pids = entries.filter((entry) => /^\d+$/.test(entry)).map(Number);
  const owned = await Promise.all(pids.map(async (pid) => pid !== process.pid && (await hasTemporary(pid, directory))));
  return pids.filter((_, index) => owned[index]);
}

async function hasTemporary(pid: number, directory: string): Promise<boolean> {
  // The process may end while it is read, or belong to someone else.
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
  const value = environment
    .split('\0')
    .find((entry) => entry.startsWith('TMPDIR='))
    ?.slice('TMPDIR='.length);
  return value === directory || (value?.startsWith(`${directory}/`) ?? false);
}

/** Ends a process, or the group that a negative number names; nothing happens when it is gone. */
export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
