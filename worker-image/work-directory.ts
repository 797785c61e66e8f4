import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

const PREFIX = 'mediajobs-work-';

/** Makes a private directory whose name tells which process it belongs to. */
export function makeWorkDirectory(root: string): Promise<string> {
  return mkdtemp(join(root, `${PREFIX}${process.pid}-`));
}

/** Also while a killed tool may still be writing there. */
export function removeWorkDirectory(directory: string): Promise<void> {
  return rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}

/**
 * Removes what processes that no longer run left behind: callers' files must not outlive a crash. What
 * belongs to another user stays.
 */
export async function sweepWorkDirectories(root: string): Promise<void> {
  const names = await readdir(root);
  const left = names.filter((name) => {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    return pid !== undefined && !existsSync(`/proc/${pid}`);
  });
  await Promise.all(left.map((name) => removeWorkDirectory(join(root, name)).catch(() => undefined)));
}
