import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeDeepDirectory } from '#test/support/make-deep-directory.ts';
import { isEmptyDirectory, openDirectory, pathIn, removeContents, removeTree } from '#crds/process/private-files.ts';

let folder: string;
let own: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'private-files-'));
  own = join(folder, 'own');
  await mkdir(own);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('openDirectory', () => {
  it('refuses a symbolic link and a file', async () => {
    await symlink(own, join(folder, 'link'));
    await writeFile(join(folder, 'file'), '');
    for (const name of ['link', 'file']) expect(() => openDirectory(join(folder, name))).toThrow(/ENOTDIR|ELOOP/);
  });
});

describe('pathIn', () => {
  it.each(['', '.', '..', 'a/b', '/etc', 'a\0b'])('refuses the name %o', (name) => {
    using directory = openDirectory(own);
    expect(() => pathIn(directory, name)).toThrow(RangeError);
  });

  it('names a file of the open directory, even when its path was replaced', async () => {
    using directory = openDirectory(own);
    await rm(own, { recursive: true });
    await mkdir(join(folder, 'other'));
    await symlink(join(folder, 'other'), own);
    await expect(writeFile(pathIn(directory, 'file'), '')).rejects.toThrow('ENOENT');
    expect(await readdir(join(folder, 'other'))).toEqual([]);
  });
});

describe('removeContents', () => {
  it('removes directories of any depth, and files without rights', async () => {
    const deep = join(own, ...Array.from({ length: 60 }, () => 'deep'));
    await mkdir(deep, { recursive: true });
    await writeFile(join(deep, 'file'), '');
    await chmod(join(own, 'deep'), 0o000);
    using directory = openDirectory(own);
    expect(await removeContents(directory)).toBe(true);
    expect(isEmptyDirectory(directory)).toBe(true);
  });

  it('removes a link and not its target', async () => {
    await mkdir(join(folder, 'other'));
    await writeFile(join(folder, 'other', 'file'), '');
    await symlink(join(folder, 'other'), join(own, 'link'));
    using directory = openDirectory(own);
    expect(await removeContents(directory)).toBe(true);
    expect(existsSync(join(folder, 'other', 'file'))).toBe(true);
  });

  it('returns false when there are more entries than the maximum', async () => {
    await Promise.all([1, 2, 3].map((n) => writeFile(join(own, String(n)), '')));
    using directory = openDirectory(own);
    expect(await removeContents(directory, 2)).toBe(false);
    expect(isEmptyDirectory(directory)).toBe(false);
    expect(await removeContents(directory)).toBe(true);
  });
});

describe('removeTree', () => {
  it('removes a directory with its content, and accepts a missing one', async () => {
    await writeFile(join(own, 'file'), '');
    await removeTree(own);
    expect(existsSync(own)).toBe(false);
    await removeTree(own);
  });

  it('removes a file', async () => {
    await writeFile(join(own, 'file'), '');
    await removeTree(join(own, 'file'));
    expect(await readdir(own)).toEqual([]);
  });

  it('removes directories deeper than a path may be long, without rights', async () => {
    makeDeepDirectory(own);
    await chmod(own, 0o300);
    await removeTree(own);
    expect(existsSync(own)).toBe(false);
  });
});
