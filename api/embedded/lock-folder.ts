import { openSync } from 'node:fs';
import { StartError } from '#api/embedded/start-error.ts';
import { startSystemProcess } from '#api/embedded/system-process.ts';

const FLOCK = '/usr/bin/flock';
/** Exit of flock when another process holds the lock. */
const HELD = 'exit code 1';

/**
 * Locks a file until this process ends. The lock belongs to the open file description, which only this process
 * keeps: the kernel releases it with the process. A user who may not open the file cannot hold the lock.
 * @throws StartError when another process holds it.
 */
export async function lockFolder(folder: string, file: string): Promise<void> {
  const open = openSync(file, 'a', 0o600);
  const flock = await startSystemProcess({
    file: FLOCK,
    args: ['--nonblock', '--exclusive', '3'],
    user: null,
    deathSignal: 'KILL',
    open: [open],
    onLine: () => undefined,
  });
  const end = await flock.ended;
  if (end === 'exit code 0') return;
  if (end !== HELD) throw new StartError(`The data folder ${folder} cannot be locked: flock ended with ${end}.`);
  throw new StartError(
    `Another mediajobs service runs on the data folder ${folder}: stop that one, or choose another folder with --data.`,
  );
}
