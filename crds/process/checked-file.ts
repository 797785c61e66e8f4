/**
 * Files that another process may have replaced by anything: they are checked through a descriptor before they are
 * opened, and nothing that happens to the path afterwards matters.
 */
import { basename } from 'node:path';
import { closeSync, constants, fstatSync, openSync, type Stats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

/** Flag of open(2) for a path descriptor; the same number on every architecture that Node runs on. */
export const O_PATH = 0o10_000_000;

export interface FileRules {
  /** User id that the file must belong to. */
  readonly uid: number;
  readonly maxBytes: number;
  /** Refuses a file with a second name, which another user may have created. */
  readonly onlyName: boolean;
}

export interface OpenFile {
  readonly handle: FileHandle;
  /** Size in bytes. */
  readonly size: number;
}

/**
 * Open descriptor of a directory, or of a file that it names without opening it (O_PATH). Opened and closed
 * synchronously, because neither waits for a device: a round trip through the thread pool costs more CPU time.
 */
export class Descriptor implements Disposable {
  readonly fd: number;

  constructor(path: string, flags: number) {
    this.fd = openSync(path, flags);
  }

  /** Path of the open file, which stays valid after a rename. */
  get path(): string {
    return `/proc/self/fd/${this.fd}`;
  }

  stat(): Stats {
    return fstatSync(this.fd);
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
  }
}

/** File of another type, owner, number of names or size than required. */
export class ForeignFile extends Error {
  override readonly name = 'ForeignFile';
}

/**
 * Returns a path descriptor of a regular file. It does not open the file, so no device is touched and no pipe blocks.
 * @throws ForeignFile for a link, another type of file, another owner, a second name, or too many bytes.
 */
export function nameFile(path: string, rules: FileRules): Descriptor {
  const file = describe(path);
  try {
    refuseForeign(file.stat(), basename(path), rules);
    return file;
  } catch (error) {
    file[Symbol.dispose]();
    throw error;
  }
}

/** Opens the file of a path descriptor for reading. @throws ForeignFile when it cannot be opened. */
export async function openNamed(file: Descriptor): Promise<OpenFile> {
  const handle = await open(file.path, constants.O_RDONLY | constants.O_NONBLOCK).catch((cause: unknown) => {
    throw new ForeignFile('the file cannot be opened', { cause });
  });
  return { handle, size: file.stat().size };
}

function describe(path: string): Descriptor {
  try {
    return new Descriptor(path, O_PATH | constants.O_NOFOLLOW);
  } catch (cause) {
    throw new ForeignFile(`${basename(path)} cannot be opened`, { cause });
  }
}

function refuseForeign(stats: Stats, name: string, rules: FileRules): void {
  if (!stats.isFile()) throw new ForeignFile(`${name} is not a regular file`);
  if (stats.uid !== rules.uid) throw new ForeignFile(`${name} belongs to user ${stats.uid}, not ${rules.uid}`);
  if (rules.onlyName && stats.nlink !== 1) throw new ForeignFile(`${name} has ${stats.nlink} names`);
  if (stats.size > rules.maxBytes)
    throw new ForeignFile(`${name} has ${stats.size} bytes, more than ${rules.maxBytes}`);
}
