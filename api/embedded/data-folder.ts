import { accessSync, constants, existsSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import { claimFolder, requireOwnEntries } from '#api/embedded/data-folder-owner.ts';
import { lockFolder } from '#api/embedded/lock-folder.ts';
import { StartError } from '#api/embedded/start-error.ts';

export interface DataFolder {
  readonly path: string;
  /** Returns the path of an entry of the folder. */
  in(...names: readonly string[]): string;
}

interface DataFolderDeps {
  /** Called with one sentence for the operator. */
  readonly report: (sentence: string) => void;
}

const SUBFOLDERS = ['tls', 'files', 'work', 'run', 'log'];

/**
 * Creates the folder and its subfolders where they are missing, and locks it until this process ends.
 * @throws StartError when it cannot be written, belongs to somebody else, holds secrets that others may read, or
 * another service runs on it.
 */
export async function openDataFolder(deps: DataFolderDeps, folder: string): Promise<DataFolder> {
  const real = makeFolder(folder);
  claimFolder(deps, real);
  makeUsable(folder, () =>
    SUBFOLDERS.forEach((name) => mkdirSync(path.join(real, name), { recursive: true, mode: 0o700 })),
  );
  requireOwnEntries(deps, real);
  await lockFolder(real, path.join(real, 'run', 'lock'));
  removeDrafts(real);
  return { path: real, in: (...names) => path.join(real, ...names) };
}

function makeFolder(folder: string): string {
  return makeUsable(folder, () => {
    // mkdir alone reports ENOENT for some read-only folders.
    accessSync(nearestFolder(path.resolve(folder)), constants.W_OK);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return realpathSync(folder);
  });
}

function makeUsable<T>(folder: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new StartError(
      `The data folder ${folder} cannot be used: ${reason(error)}. Choose another one with --data.`,
      { cause: error },
    );
  }
}

/** Returns the folder itself, or its nearest ancestor that exists. */
function nearestFolder(folder: string): string {
  return existsSync(folder) ? folder : nearestFolder(path.dirname(folder));
}

const REASONS: Readonly<Record<string, string>> = {
  EROFS: 'it is on a read-only file system',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  ENOTDIR: 'a part of its path is a file',
  EEXIST: 'a part of its path is a file',
  ENOSPC: 'the disk is full',
};

function reason(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return REASONS[code] ?? message;
}

/** Removes partly written files, which may hold secrets, and the connection file of a service that was killed. */
function removeDrafts(folder: string): void {
  for (const part of ['.', 'run']) {
    const drafts = readdirSync(path.join(folder, part)).filter((name) => /\.json\.\d+\.new$/.test(name));
    for (const name of [...drafts, 'connection.json']) rmSync(path.join(folder, part, name), { force: true });
  }
}
