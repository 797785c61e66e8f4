import { chownSync, lstatSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeSocketFolder } from '#api/embedded/socket-folder.ts';
import { StartError } from '#api/embedded/start-error.ts';

const isRoot = process.getuid?.() === 0;
const user = { uid: 65_533, gid: 65_533 };

/** Where the sockets of a fresh data folder go; there is nothing yet. */
function freshPath(owner: typeof user | null): { data: string; path: string } {
  const data = mkdtempSync(join(tmpdir(), 'socket-folder-'));
  const { path, remove } = makeSocketFolder(data, 'test', owner);
  onTestFinished(() => [data, path].forEach((made) => rmSync(made, { recursive: true, force: true })));
  remove();
  return { data, path };
}

describe('the folder of the sockets', () => {
  it('is used again, and is private', () => {
    const { data, path } = freshPath(null);
    expect(makeSocketFolder(data, 'test', null).path).toBe(path);
    expect(makeSocketFolder(data, 'test', null).path).toBe(path);
    expect(lstatSync(path)).toMatchObject({ uid: process.getuid?.() });
    expect(lstatSync(path).mode & 0o777).toBe(0o700);
  });

  it.runIf(isRoot)('is handed over where a start was killed before it could do so', () => {
    const { data, path } = freshPath(user);
    mkdirSync(path, { mode: 0o700 });
    makeSocketFolder(data, 'test', user);
    expect(lstatSync(path)).toMatchObject(user);
  });

  it.runIf(isRoot)('is refused when it belongs to somebody else', () => {
    const { data, path } = freshPath(user);
    mkdirSync(path, { mode: 0o700 });
    chownSync(path, 65_532, 65_532);
    expect(() => makeSocketFolder(data, 'test', user)).toThrow(StartError);
  });

  it('is refused when it is a file', () => {
    const { data, path } = freshPath(null);
    writeFileSync(path, '');
    expect(() => makeSocketFolder(data, 'test', null)).toThrow(StartError);
  });
});
