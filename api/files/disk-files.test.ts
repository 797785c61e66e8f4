import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDiskFiles } from './disk-files.ts';
import type { FileStore } from './file-store.ts';

const NOW = new Date('2026-11-21T12:00:00Z');
let directory: string;
let files: FileStore;

const openStore = (): Promise<FileStore> =>
  openDiskFiles({
    clock: { now: () => NOW },
    directory,
    baseUrl: 'http://files.example',
    linkKeys: [{ id: '1', key: Buffer.alloc(32) }],
  });
const put = (key: string, content: string) => files.put(key, Readable.from([Buffer.from(content)]), { maxBytes: 1000 });
const read = async (key: string): Promise<string | null> => {
  const found = await files.get(key);
  return found === null ? null : text(found.body);
};

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'disk-files-'));
  files = await openStore();
});
afterEach(() => rm(directory, { recursive: true }));

describe('openDiskFiles', () => {
  it('stores an object as one private file named by its SHA-256, which is also its ETag', async () => {
    await put('uploads/upl_a', 'before');
    const { sha256, etag } = await put('uploads/upl_a', 'after');
    const folder = join(directory, 'objects/uploads/upl_a');
    expect(await readdir(folder)).toEqual([`@${sha256}`]);
    expect(await readFile(join(folder, `@${sha256}`), 'utf8')).toBe('after');
    expect((await stat(join(folder, `@${sha256}`))).mode & 0o777).toBe(0o600);
    expect(etag).toBe(`"${sha256}"`);
  });

  it('leaves no temporary file or folder after a failed put', async () => {
    await expect(put('a/b', 'x'.repeat(1001))).rejects.toThrow('more than 1000 bytes');
    expect(await readdir(join(directory, '@temp'))).toEqual([]);
    expect(await readdir(join(directory, 'objects'))).toEqual([]);
  });

  it('reads the newest file when a crash left two, and removes the older one at the next put', async () => {
    await put('a', 'old');
    const { sha256 } = await put('b', 'new');
    const folder = join(directory, 'objects/a');
    await writeFile(join(folder, `@${sha256}`), 'new');
    const soon = Date.now() / 1000 + 1;
    await utimes(join(folder, `@${sha256}`), soon, soon);
    expect(await read('a')).toBe('new');
    await put('a', 'newest');
    expect(await read('a')).toBe('newest');
    expect(await readdir(folder)).toHaveLength(1);
  });

  it('reads the last put even when the clock of the disk was set back', async () => {
    const { sha256 } = await put('a', 'first');
    const tomorrow = Date.now() / 1000 + 86_400;
    await utimes(join(directory, 'objects/a', `@${sha256}`), tomorrow, tomorrow);
    await put('a', 'second');
    expect(await read('a')).toBe('second');
  });

  it('stores objects whose keys are prefixes of other keys', async () => {
    await put('a', 'short');
    await put('a/b', 'long');
    await files.delete('a');
    expect([await read('a'), await read('a/b')]).toEqual([null, 'long']);
  });

  it('removes empty folders with the last object in them', async () => {
    await put('outputs/job_a/1', 'x');
    await files.delete('outputs/job_a/1');
    expect(await readdir(join(directory, 'objects'))).toEqual([]);
  });

  it('puts and deletes the same key concurrently without an error', async () => {
    const rounds = Array.from({ length: 30 }, (_, index) => [put('a/b/c', `${index}`), files.delete('a/b/c')]);
    await Promise.all(rounds.flat());
    await put('a/b/c', 'last');
    expect(await read('a/b/c')).toBe('last');
  });

  it('deletes the temporary files of dead processes only', async () => {
    const deadPid = spawnSync('true').pid;
    const temp = join(directory, '@temp');
    const own = `${process.pid}-${Math.round(performance.timeOrigin)}-a`;
    const names = [`${deadPid}-1-a`, `${process.pid}-1-a`, own, `${process.ppid}-1-a`, 'strange'];
    await mkdir(temp, { recursive: true });
    for (const name of names) await writeFile(join(temp, name), 'half');
    await openStore();
    expect((await readdir(temp)).toSorted()).toEqual([own, `${process.ppid}-1-a`].toSorted());
  });

  it('signs URLs that expire after the given seconds', async () => {
    const expires = NOW.getTime() / 1000 + 90;
    expect(await files.signedGet('uploads/upl_a', 90)).toContain(
      `http://files.example/files/uploads/upl_a?expires=${expires}&`,
    );
  });
});
