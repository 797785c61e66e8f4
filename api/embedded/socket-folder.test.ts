import { chownSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeSocketFolder } from '#api/embedded/socket-folder.ts';
import { StartError } from '#api/embedded/start-error.ts';

const isRoot = process.getuid?.() === 0;
const user = { uid: 65_533, gid: 65_533 };

/** Returns a fresh data folder. Its path is about `longer` bytes longer than the shortest one. */
function freshFolder(longer = 0): string {
  const data = mkdtempSync(join(tmpdir(), 'socket-folder-'));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  if (longer === 0) return data;
  const long = join(data, 'x'.repeat(longer));
  mkdirSync(long);
  return long;
}

describe('the folder of the sockets', () => {
  it('is in the data folder, private, and used again without what a killed server left there', () => {
    const data = freshFolder();
    const { path } = makeSocketFolder(data, 'test', { owner: null });
    expect(path).toBe(join(data, 'run', 'test'));
    writeFileSync(join(path, 'left.sock'), '');
    expect(makeSocketFolder(data, 'test', { owner: null }).path).toBe(path);
    expect(readdirSync(path)).toEqual([]);
    expect(lstatSync(path)).toMatchObject({ uid: process.getuid?.() });
    expect(lstatSync(path).mode & 0o777).toBe(0o700);
  });

  it.runIf(isRoot)('belongs to the server, and may be entered by the group of its clients', () => {
    const { path } = makeSocketFolder(freshFolder(), 'test', { owner: user, mayEnter: 65_532 });
    expect(lstatSync(path)).toMatchObject({ uid: user.uid, gid: 65_532 });
    expect(lstatSync(path).mode & 0o777).toBe(0o710);
  });

  it('is elsewhere when the path of a socket would be too long, the same at each start, and is created by its owner only', () => {
    const data = freshFolder(80);
    const { path, remove } = makeSocketFolder(data, 'test', { owner: null });
    onTestFinished(() => rmSync(dirname(path), { recursive: true, force: true }));
    expect(Buffer.byteLength(path)).toBeLessThan(84);
    expect(makeSocketFolder(data, 'test', { owner: null }).path).toBe(path);
    expect(lstatSync(dirname(path))).toMatchObject({ uid: process.getuid?.() });
    expect(lstatSync(dirname(path)).mode & 0o022).toBe(0);
    remove();
    expect(existsSync(path)).toBe(false);
  });

  it.runIf(isRoot)('is refused when the folder above it belongs to somebody else', () => {
    const data = freshFolder();
    mkdirSync(join(data, 'run'));
    chownSync(join(data, 'run'), 65_532, 65_532);
    expect(() => makeSocketFolder(data, 'test', { owner: user })).toThrow(StartError);
  });

  it('is refused when it is a file', () => {
    const data = freshFolder();
    mkdirSync(join(data, 'run'));
    writeFileSync(join(data, 'run', 'test'), '');
    expect(() => makeSocketFolder(data, 'test', { owner: null })).toThrow();
  });
});
