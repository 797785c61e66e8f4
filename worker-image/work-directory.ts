import { existsSync, mkdtempSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '#crds/process/private-files.ts';

const PREFIX = 'mediajobs-work-';

/** Creates a private directory whose name contains the id of this process. */
export function makeWorkDirectory(root: string): string {
  return mkdtempSync(join(root, `${PREFIX}${process.pid}-`));
}

/** Removes a private directory without following links, which a process may have left in it. */
export function removeWorkDirectory(directory: string): Promise<void> {
  return removeTree(directory);
}

/**
 * Removes the private directories of processes that no longer run: callers' files must not outlive a crash. Directories
 * of other users stay.
 */
export async function sweepWorkDirectories(root: string): Promise<void> {
  const names = await readdir(root);
  const left = names.filter((name) => {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    return pid !== undefined && !existsSync(`/proc/${pid}`);
  });
  await Promise.all(left.map((name) => removeOwn(join(root, name)).catch(() => undefined)));
}

async function removeOwn(directory: string): Promise<void> {
  if ((await lstat(directory)).uid === process.getuid?.()) await removeWorkDirectory(directory);
}
