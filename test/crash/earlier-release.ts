/** Code of an earlier release from the history of this checkout, with the npm and Python packages of this checkout. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';

const CHECKOUT = path.join(import.meta.dirname, '../..');

/** Returns whether the history has the commit or tag; a shallow clone lacks it. */
export function isInHistory(commit: string): boolean {
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: CHECKOUT, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Returns the newest tag of a version before the checked-out commit, such as `v0.1.0`; null when the history has none. */
export function newestRelease(checkout = CHECKOUT): string | null {
  const command = ['describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD^'];
  try {
    return execFileSync('git', command, {
      cwd: checkout,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return null;
  }
}

/** Returns a folder of the commit's code, which is removed after the file's tests. */
export function checkOut(commit: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'mediajobs-earlier-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const extract = 'set -o pipefail; git archive "$1" | tar --extract --directory "$2"';
  execFileSync('bash', ['-c', extract, 'bash', commit, folder], { cwd: CHECKOUT });
  for (const name of ['node_modules', '.tools/python']) copyFolder(path.join(CHECKOUT, name), path.join(folder, name));
  // It has the compiled code and the bundle of this version.
  rmSync(path.join(folder, 'node_modules', '.cache'), { recursive: true, force: true });
  return folder;
}

/** Makes hard links where both folders are on one file system: processes in isolation do not see what symbolic links name. */
function copyFolder(from: string, to: string): void {
  mkdirSync(path.dirname(to), { recursive: true });
  execFileSync('sh', ['-c', 'cp -al "$1" "$2" 2>/dev/null || cp -a "$1/." "$2"', 'sh', from, to]);
}
