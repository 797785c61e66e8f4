/**
 * Files in a directory that an engine process may write to while its owner reads there. The owner holds the
 * directory open and reaches each name through that descriptor, without following links: whatever the process
 * renames or replaces, the owner never leaves the directory. Neither modes nor the depth of its directories keep the
 * owner from removing them, as they do with `rm`.
 */
import { randomUUID } from 'node:crypto';
import { chmodSync, constants, lstatSync, opendirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { setImmediate as yieldToEvents } from 'node:timers/promises';
import { Descriptor, O_PATH } from '#crds/process/checked-file.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
const OWNER_ONLY = 0o700;
/** Blocks of 512 bytes from which a file is removed in the thread pool: the system frees its pages meanwhile. */
const MANY_BLOCKS = (64 * 1024 ** 2) / 512;
/** Number of entries after which other events are handled. */
const ENTRIES_AT_ONCE = 64;

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
  makeReadable(directory);
  for (;;) {
    const found = await eachEntry(directory, budget, (name) => removeEntry(directory, name, budget));
    if (found === 0) return true;
    if (budget.left <= 0) return false;
  }
}

/** Removes a file, or a directory that no process writes to any more, with its content. Does nothing when it is missing. */
export async function removeTree(path: string): Promise<void> {
  if (await unlinked(path)) return;
  {
    using directory = openReadable(path);
    if (directory !== null) await removeContents(directory);
  }
  attempt(() => rmdirSync(path), ['ENOENT']);
}

interface Budget {
  left: number;
}

async function removeEntry(directory: Descriptor, name: string, budget: Budget): Promise<void> {
  const path = pathIn(directory, name);
  if (await unlinked(path)) return;
  using below = openReadable(path);
  if (below === null) return;
  await eachEntry(below, budget, async (inner) => {
    const from = pathIn(below, inner);
    if (!(await unlinked(from))) attempt(() => renameSync(from, pathIn(directory, randomUUID())), ['ENOENT']);
  });
  // Fails when a process created a file meanwhile: the next iteration finds it.
  attempt(() => rmdirSync(path), ['ENOENT', 'ENOTEMPTY', 'ENOTDIR']);
}

/**
 * Returns the number of entries; stops when the budget is spent. Synchronous, with a pause for other events: a round
 * trip through the thread pool for each step costs more CPU time than the step.
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
      if (found % ENTRIES_AT_ONCE === 0) await yieldToEvents();
    }
  } finally {
    entries.closeSync();
  }
  return found;
}

/** Unlinks a file. Returns false for a directory. */
async function unlinked(path: string): Promise<boolean> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return true;
  if (found.isDirectory()) return false;
  if (found.blocks > MANY_BLOCKS) await unlink(path).catch((error: unknown) => ignoring(error, REPLACED));
  else attempt(() => unlinkSync(path), REPLACED);
  return true;
}

/** Error codes of `unlink` when a process has removed the file, or replaced it by a directory. */
const REPLACED: readonly string[] = ['ENOENT', 'EISDIR', 'EPERM'];

/** Opens a directory whatever its mode; null when it is missing or not a directory. */
function openReadable(path: string): Descriptor | null {
  try {
    using named = new Descriptor(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    makeReadable(named);
    return new Descriptor(named.path, O_RDONLY | O_DIRECTORY);
  } catch (error) {
    return ignoring(error, ['ENOENT', 'ENOTDIR', 'ELOOP']);
  }
}

function makeReadable(directory: Descriptor): void {
  if ((directory.stat().mode & OWNER_ONLY) !== OWNER_ONLY) chmodSync(directory.path, OWNER_ONLY);
}

/** Calls the function, and ignores an error with one of the codes. */
function attempt(step: () => void, codes: readonly string[]): void {
  try {
    step();
  } catch (error) {
    ignoring(error, codes);
  }
}

function ignoring(error: unknown, codes: readonly string[]): null {
  if (codes.includes((error as NodeJS.ErrnoException).code ?? '')) return null;
  throw error;
}
