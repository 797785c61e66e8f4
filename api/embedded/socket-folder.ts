import { chownSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import { folderHash } from '#api/embedded/folder-hash.ts';
import { StartError } from '#api/embedded/start-error.ts';
import type { SystemUser } from '#api/embedded/system-user.ts';

/**
 * A private folder for the unix sockets of one server. It is not below the data folder, because a
 * socket's path may have 107 bytes at most; its name follows from that folder, so none is left behind.
 * @throws StartError when somebody else owns a folder of that name.
 */
export function makeSocketFolder(
  dataFolder: string,
  name: string,
  user: Pick<SystemUser, 'uid' | 'gid'> | null,
): { path: string; remove: () => void } {
  const self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const owner = user ?? self;
  const path = `/tmp/mediajobs-${owner.uid}-${folderHash(dataFolder)}-${name}`;
  makeUnlessThere(path);
  const there = lstatSync(path);
  if (!there.isDirectory() || ![owner.uid, self.uid].includes(there.uid)) {
    throw new StartError(`${path} belongs to somebody else, but the sockets of ${name} must be there. Remove it.`);
  }
  // Fresh, or of a start that was killed right here.
  if (there.uid !== owner.uid) chownSync(path, owner.uid, owner.gid);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

function makeUnlessThere(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
