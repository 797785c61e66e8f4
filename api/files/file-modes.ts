import { chmod, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Permission bits of the folders and files of a store. */
export interface Modes {
  readonly folder: number;
  readonly file: number;
}

const PRIVATE: Modes = { folder: 0o700, file: 0o600 };
/** Modes in a setgid folder, whose group's processes share the store. */
const SHARED: Modes = { folder: 0o2770, file: 0o640 };

/** Returns the modes of the store in a directory. */
export async function modesIn(directory: string): Promise<Modes> {
  const existing = await stat(directory).catch(() => null);
  return existing !== null && (existing.mode & 0o2000) !== 0 ? SHARED : PRIVATE;
}

/** Creates the folder and its missing parents with the given mode, independent of the process's umask. */
export async function makeFolder(folder: string, { folder: mode }: Modes): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode });
  if (first === undefined) return;
  for (let created = folder; created.length >= first.length; created = dirname(created)) await chmod(created, mode);
}
