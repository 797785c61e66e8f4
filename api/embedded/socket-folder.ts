/** Folders for the unix sockets of one server: in the data folder, or in a private runtime folder when that path is too long. */
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import path from 'node:path';
import { folderHash } from '#api/embedded/folder-hash.ts';
import { StartError } from '#api/embedded/start-error.ts';
import { writeFileAtomically } from '#api/embedded/write-file.ts';

/** Owner of the folder; null: the caller. */
interface SocketOwner {
  readonly uid: number;
  readonly gid: number;
}

interface SocketFolder {
  readonly path: string;
  readonly remove: () => void;
}

/** Longest path of a unix socket in bytes (unix(7)), and room in it for the socket's own name. */
const MAX_PATH_BYTES = 107;
const NAME_BYTES = 24;

/**
 * Creates or empties a private folder for the sockets of one server.
 * `mayEnter`: group whose processes may connect; null: only the owner.
 * @throws StartError when somebody else owns a part of the path.
 */
export function makeSocketFolder(
  dataFolder: string,
  name: string,
  { owner, mayEnter = null }: { owner: SocketOwner | null; mayEnter?: number | null },
): SocketFolder {
  const folder = path.join(socketRoot(dataFolder), name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!lstatSync(folder).isDirectory()) throw new StartError(`${folder} is not a folder. Remove it.`);
  // The folder itself stays: clients may have mounted it.
  for (const left of readdirSync(folder)) rmSync(path.join(folder, left), { recursive: true, force: true });
  if (owner !== null) chownSync(folder, owner.uid, mayEnter ?? owner.gid);
  chmodSync(folder, mayEnter === null ? 0o700 : 0o710);
  return { path: folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Returns the folder that holds the socket folders. It belongs to the caller, and only the caller may write to it. */
function socketRoot(dataFolder: string): string {
  const own = path.join(dataFolder, 'run');
  if (fits(own)) return ownFolder(own);
  for (const runtime of runtimeFolders()) {
    const root = path.join(runtime, folderHash(dataFolder));
    if (fits(root) && isOwnFolder(runtime)) return ownFolder(root);
  }
  return temporaryRoot(path.join(dataFolder, 'run', 'sockets'));
}

function fits(folder: string): boolean {
  return Buffer.byteLength(folder) + NAME_BYTES + NAME_BYTES <= MAX_PATH_BYTES;
}

function runtimeFolders(): string[] {
  const uid = process.getuid?.() ?? 0;
  if (uid === 0) return ['/run/mediajobs'];
  const own = `/run/user/${uid}`;
  return isPrivate(own) ? [path.join(own, 'mediajobs')] : [];
}

/** Returns a folder below /tmp with an unpredictable name, which is recorded in the data folder: no other user can have created it. */
function temporaryRoot(record: string): string {
  const recorded = existsSync(record) ? readFileSync(record, 'utf8').trim() : '';
  if (recorded !== '' && isOwnFolder(recorded)) return recorded;
  const made = mkdtempSync('/tmp/mediajobs-');
  chmodSync(made, 0o711);
  writeFileAtomically(record, `${made}\n`);
  return made;
}

/** Returns the folder, created when it is missing. @throws StartError when somebody else owns it. */
function ownFolder(folder: string): string {
  if (isOwnFolder(folder)) return folder;
  throw new StartError(`${folder} belongs to somebody else, but the service needs it for its sockets. Remove it.`);
}

function isOwnFolder(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o711 });
    const there = lstatSync(folder);
    return there.isDirectory() && there.uid === process.getuid?.() && (there.mode & 0o022) === 0;
  } catch {
    return false;
  }
}

function isPrivate(folder: string): boolean {
  const there = lstatSync(folder, { throwIfNoEntry: false });
  return there?.isDirectory() === true && there.uid === process.getuid?.() && (there.mode & 0o077) === 0;
}
