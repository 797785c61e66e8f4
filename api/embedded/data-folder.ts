import { accessSync, constants, existsSync, mkdirSync, realpathSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { folderHash } from '#api/embedded/folder-hash.ts';
import { StartError } from '#api/embedded/start-error.ts';

export interface DataFolder {
  readonly path: string;
  /** The folder of that name in it. */
  in(...names: readonly string[]): string;
}

const SUBFOLDERS = ['tls', 'files', 'work', 'run', 'log'];

/**
 * Makes the folder with everything in it, and locks it for this process's life.
 * @throws StartError when it cannot be written, or another service runs on it.
 */
export async function openDataFolder(folder: string): Promise<DataFolder> {
  try {
    // mkdir alone reports some read-only folders as missing ones.
    accessSync(nearestFolder(path.resolve(folder)), constants.W_OK);
    for (const name of SUBFOLDERS) mkdirSync(path.join(folder, name), { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StartError(
      `The data folder ${folder} cannot be used: ${reason(error)}. Choose another one with --data.`,
      { cause: error },
    );
  }
  const real = realpathSync(folder);
  await lock(real);
  return { path: real, in: (...names) => path.join(real, ...names) };
}

/** The folder itself, or the first one above it that exists. */
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

/** A socket without a file: the kernel lets it go with the process, however that ends. */
async function lock(folder: string): Promise<void> {
  const server = createServer((socket) => socket.destroy()).unref();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') return reject(error);
    reject(
      new StartError(
        `Another mediajobs service runs on the data folder ${folder}: stop that one, or choose another folder with --data.`,
      ),
    );
  });
  server.listen(`\0mediajobs-${folderHash(folder)}`, resolve);
  await promise;
}
