/**
 * Files in a directory that an engine process may write to while its owner reads there. The owner holds the
 * directory open and reaches each name through that descriptor, without following links: whatever the process
 * renames or replaces, the owner never leaves the directory.
 */
import { randomUUID } from 'node:crypto';
import { constants, opendirSync } from 'node:fs';
import { chmod, rename, rmdir, unlink } from 'node:fs/promises';
import { Descriptor, O_PATH } from '#crds/process/checked-file.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
const OWNER_ONLY = 0o700;

/** Opens a directory. @throws Error with the code ENOTDIR or ELOOP for anything else. */
export function openDirectory(path: string): Descriptor {
  return new Descriptor(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

/** Returns the path of a name in an open directory. @throws RangeError for a path of several names. */
export function pathIn(directory: Descriptor, name: string): string {
  if (name === '' || name === '.' || name === '..' || name.includes('/') || name.includes('\0'))
    throw new RangeError(`${JSON.stringify(name)} is not the name of a file`);
  return `${directory.path}/${name}`;
}

export function isEmptyDirectory(directory: Descriptor): boolean {
  const entries = opendirSync(directory.path);
  try {
    return entries.readSync() === null;
  } finally {
    entries.closeSync();
  }
}

/**
 * Removes everything in a directory. Holds two descriptors at most, however deep it is: directories below the first
 * level are moved up before they are removed.
 * @param maxEntries Maximum number of files and directories to remove: a process may create more meanwhile.
 * @returns false when there were more.
 */
export async function removeContents(directory: Descriptor, maxEntries = Infinity): Promise<boolean> {
  const budget = { left: maxEntries };
  for (;;) {
    const found = await eachEntry(directory, budget, (name) => removeEntry(directory, name, budget));
    if (found === 0) return true;
    if (budget.left <= 0) return false;
  }
}

/** Removes a directory that no process writes to any more, with its content. Does nothing when it is missing. */
export async function removeDirectory(path: string): Promise<void> {
  try {
    using directory = openDirectory(path);
    await removeContents(directory);
  } catch (error) {
    return void ignoreMissing(error);
  }
  await rmdir(path).catch(ignoreMissing);
}

interface Budget {
  left: number;
}

async function removeEntry(directory: Descriptor, name: string, budget: Budget): Promise<void> {
  const path = pathIn(directory, name);
  if ((await unlinked(path)) || (await removedEmpty(path))) return;
  using below = await openReadable(path);
  if (below === null) return;
  await eachEntry(below, budget, async (inner) => {
    const from = pathIn(below, inner);
    if (!(await unlinked(from))) await rename(from, pathIn(directory, randomUUID())).catch(ignoreMissing);
  });
  // Fails when a process created a file meanwhile: the next iteration finds it.
  await removedEmpty(path);
}

/** Removes an empty directory. Returns false for one with entries. */
function removedEmpty(path: string): Promise<boolean> {
  return rmdir(path).then(
    () => true,
    (error: unknown) => {
      ignoring(error, ['ENOENT', 'ENOTEMPTY', 'ENOTDIR']);
      return (error as NodeJS.ErrnoException).code === 'ENOENT';
    },
  );
}

/**
 * Returns the number of entries; stops when the budget is spent. Names are read synchronously, 32 at a time: a
 * round trip through the thread pool for each step costs more CPU time than the step.
 */
async function eachEntry(directory: Descriptor, budget: Budget, use: (name: string) => Promise<void>): Promise<number> {
  let found = 0;
  const entries = opendirSync(directory.path);
  try {
    for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) {
      found += 1;
      budget.left -= 1;
      if (budget.left < 0) return found;
      await use(entry.name);
    }
  } finally {
    entries.closeSync();
  }
  return found;
}

/** Unlinks a file. Returns false for a directory. */
function unlinked(path: string): Promise<boolean> {
  return unlink(path).then(
    () => true,
    (error: unknown) => {
      ignoring(error, ['ENOENT', 'EISDIR', 'EPERM']);
      return (error as NodeJS.ErrnoException).code === 'ENOENT';
    },
  );
}

/** Opens a directory whatever its mode; null when it is missing or not a directory. */
async function openReadable(path: string): Promise<Descriptor | null> {
  try {
    using named = new Descriptor(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    await chmod(named.path, OWNER_ONLY);
    return new Descriptor(named.path, O_RDONLY | O_DIRECTORY);
  } catch (error) {
    return ignoring(error, ['ENOENT', 'ENOTDIR', 'ELOOP']);
  }
}

function ignoreMissing(error: unknown): null {
  return ignoring(error, ['ENOENT']);
}

function ignoring(error: unknown, codes: readonly string[]): null {
  if (codes.includes((error as NodeJS.ErrnoException).code ?? '')) return null;
  throw error;
}
