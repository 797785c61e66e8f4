/** Owners and modes of the folders that the processes write to. Idempotent: the next start completes an interrupted one. */
import { chmodSync, chownSync, existsSync, lchownSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { WORKERS } from '#api/embedded/process-settings.ts';
import type { ProcessUsers } from '#api/embedded/process-users.ts';
import { StartError } from '#api/embedded/start-error.ts';
import { removeTree } from '#crds/process/private-files.ts';

interface Folders {
  /** Folder of the file store; null when that is a bucket. */
  readonly files: string | null;
  /** Folder of temporary files of requests and jobs. */
  readonly work: string;
}

/** Setgid: new entries inherit the group. */
const SHARED_FOLDER = 0o2770;
const SHARED_FILE = 0o660;

/**
 * Creates empty work folders that only their processes may enter, and changes the file store to the group that shares it.
 * @throws StartError when a work folder belongs to somebody else.
 */
export async function shareFolders(users: ProcessUsers | null, { files, work }: Folders): Promise<void> {
  mkdirSync(work, { recursive: true, mode: 0o711 });
  if (users !== null) openToAll(work);
  await removeOldWork(work);
  for (const name of WORKERS) {
    await makeWorkFolder(path.join(work, name), users?.of(name) ?? self());
  }
  if (files === null) return;
  mkdirSync(files, { recursive: true, mode: 0o700 });
  if (users !== null) shareTree(files, users.records);
}

function self(): { uid: number; gid: number } {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}

/** Permits other users to pass through the folder; its subfolders have their own modes. */
function openToAll(folder: string): void {
  const { mode } = lstatSync(folder);
  if ((mode & 0o001) === 0) chmodSync(folder, (mode & 0o7777) | 0o011);
}

/** Removes callers' files that a killed engine of an older version left: it worked in this folder itself. */
async function removeOldWork(work: string): Promise<void> {
  for (const name of readdirSync(work)) {
    const pid = /^mediajobs-work-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    const folder = path.join(work, name);
    if (lstatSync(folder).uid === process.getuid?.()) await removeTree(folder);
  }
}

/** Creates or empties a work folder. Its previous contents are of no use: the processes of the last run have ended. */
async function makeWorkFolder(folder: string, { uid, gid }: { uid: number; gid: number }): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const there = lstatSync(folder);
  const parent = lstatSync(path.dirname(folder));
  if (!there.isDirectory() || (parent.mode & 0o022) !== 0) requirePrivate(folder);
  for (const left of readdirSync(folder)) await removeTree(path.join(folder, left));
  chmodSync(folder, 0o700);
  if (process.getuid?.() === 0) chownSync(folder, uid, gid);
}

function requirePrivate(folder: string): void {
  const { uid } = lstatSync(folder);
  if (lstatSync(folder).isDirectory() && uid === process.getuid?.()) return;
  throw new StartError(
    `${folder} belongs to somebody else, but the service needs it for temporary files. Set MEDIAJOBS_WORK_DIR to a folder that only the service uses.`,
  );
}

/** Changes the group of a tree, the folder itself last: a folder of another group marks an interrupted change. */
function shareTree(folder: string, group: number): void {
  const there = lstatSync(folder);
  if (there.gid === group && (there.mode & 0o7777) === SHARED_FOLDER) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const one = path.join(folder, entry.name);
    if (entry.isDirectory()) shareTree(one, group);
    else if (entry.isFile()) shareOne(one, group, SHARED_FILE);
  }
  shareOne(folder, group, SHARED_FOLDER);
}

/** Changes group and mode in this order: chown clears the setgid bit. */
function shareOne(one: string, group: number, mode: number): void {
  lchownSync(one, lstatSync(one).uid, group);
  chmodSync(one, mode);
}
