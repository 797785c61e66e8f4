import { execFileSync } from 'node:child_process';
import { link, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ForeignFile, nameFile, openNamed, type FileRules } from '#crds/process/checked-file.ts';

const OWN: FileRules = { uid: process.getuid?.() ?? -1, maxBytes: 5, onlyName: true };

describe('nameFile', () => {
  let folder: string;
  let path: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mediajobs-checked-'));
    path = join(folder, 'file');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('names a file that stays the same when the path is replaced', async () => {
    await writeFile(path, 'first');
    using file = nameFile(path, OWN);
    await rename(path, join(folder, 'moved'));
    await writeFile(path, 'other');
    const { handle, size } = await openNamed(file);
    await using opened = handle;
    expect(size).toBe(5);
    expect(await opened.readFile('utf8')).toBe('first');
    expect(await readFile(path, 'utf8')).toBe('other');
  });

  it.each([
    ['is missing', async () => undefined, 'file cannot be opened'],
    ['is a directory', () => mkdir(path), 'file is not a regular file'],
    ['is a link', () => symlink('/etc/hostname', path), 'file is not a regular file'],
    ['is a pipe', async () => execFileSync('mkfifo', [path]), 'file is not a regular file'],
    ['is a device', () => symlink('/dev/zero', path), 'file is not a regular file'],
    ['is too large', () => writeFile(path, '6 byte'), 'file has 6 bytes, more than 5'],
    [
      'has a second name',
      async () => {
        await writeFile(path, '');
        await link(path, join(folder, 'second'));
      },
      'file has 2 names',
    ],
  ])('refuses what %s', async (_what, make, message) => {
    await make();
    expect(() => nameFile(path, OWN)).toThrow(new ForeignFile(message));
  });

  it('refuses the file of another user', async () => {
    await writeFile(path, '');
    expect(() => nameFile(path, { ...OWN, uid: OWN.uid + 1 })).toThrow(
      `belongs to user ${OWN.uid}, not ${OWN.uid + 1}`,
    );
  });

  it('accepts a second name where the rules allow it', async () => {
    await writeFile(path, '');
    await link(path, join(folder, 'second'));
    using file = nameFile(path, { ...OWN, onlyName: false });
    expect(file.stat().nlink).toBe(2);
  });
});
