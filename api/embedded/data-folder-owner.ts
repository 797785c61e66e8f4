/** Ownership and modes of a data folder. Secrets that another user wrote, or may read, are not trusted. */
import { chmodSync, lstatSync, statSync, type Stats } from 'node:fs';
import path from 'node:path';
import { StartError } from '#api/embedded/start-error.ts';

interface ClaimDeps {
  /** Called with one sentence for the operator. */
  readonly report: (sentence: string) => void;
}

const OTHERS_WRITE = 0o022;
const OTHERS = 0o077;
/** Folders of the service; a link to another disk is allowed when the operator made it. */
const FOLDERS = ['tls', 'files', 'work', 'run', 'log'];
/** Files that only the owner may read. */
const SECRET_FILES = ['secrets.json', 'tls/ca.key'];
/** File that the API's group may read. */
const KEY_FILE = 'tls/key.pem';

/**
 * Checks that the caller owns the folder, and revokes other users' permission to write to it.
 * @throws StartError when it belongs to another user, or others may still write to it.
 */
export function claimFolder({ report }: ClaimDeps, folder: string): void {
  const before = statSync(folder);
  requireOwner(folder, before, 'data folder');
  if ((before.mode & OTHERS_WRITE) === 0) return;
  chmodSync(folder, before.mode & 0o755);
  if ((statSync(folder).mode & OTHERS_WRITE) !== 0) {
    throw new StartError(
      `Other users may write to the data folder ${folder}, and its file system does not let that change. Choose another one with --data.`,
    );
  }
  report(`other users could write to the data folder ${folder}; now only its owner can`);
}

/**
 * Checks the owners and modes of the service's folders and secrets in the data folder.
 * @throws StartError for a folder that another user owns, and for a secret that is a link, that another user owns or may read.
 */
export function requireOwnEntries({ report }: ClaimDeps, folder: string): void {
  for (const name of FOLDERS) {
    const entry = path.join(folder, name);
    requireOwner(entry, lstatSync(entry), 'folder');
    const there = statSync(entry);
    requireOwner(entry, there, 'folder');
    if ((there.mode & OTHERS_WRITE) === 0 || (there.mode & 0o2000) !== 0) continue;
    chmodSync(entry, there.mode & 0o755);
    report(`other users could write to ${entry}; now only its owner can`);
  }
  for (const name of SECRET_FILES) requireSecret(path.join(folder, name), OTHERS);
  requireSecret(path.join(folder, KEY_FILE), 0o037);
}

function requireSecret(file: string, forbidden: number): void {
  const there = lstatSync(file, { throwIfNoEntry: false });
  if (there === undefined) return;
  if (!there.isFile()) {
    throw new StartError(
      `${file} is not a regular file. Secrets must be in the data folder itself: replace it by the file.`,
    );
  }
  requireOwner(file, there, 'file');
  if ((there.mode & forbidden) === 0) return;
  throw new StartError(
    `Other users may read ${file} (mode ${(there.mode & 0o777).toString(8)}): replace its keys if any of them may have, then run chmod 600 ${file}.`,
  );
}

function requireOwner(entry: string, there: Stats, what: string): void {
  const self = process.geteuid?.() ?? 0;
  if (there.uid === self) return;
  throw new StartError(
    `The ${what} ${entry} belongs to the user with the number ${there.uid}, who could read and replace what the service (user ${self}) keeps there. Start the service as that user, or run chown ${self} ${entry} after you have checked its contents.`,
  );
}
