import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  chownSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { usersFrom } from '#api/embedded/process-users.ts';
import { shareFolders } from '#api/embedded/share-folders.ts';

const isRoot = process.getuid?.() === 0;
const users = usersFrom(83_008);
const NO_PROCESS = 4_194_303;

function freshFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'share-folders-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function ownerOf(file: string): { uid: number; gid: number; mode: string } {
  const { uid, gid, mode } = lstatSync(file);
  return { uid, gid, mode: (mode & 0o7777).toString(8) };
}

describe('the work folders', () => {
  it('exist once for each process that opens files, private and empty', async () => {
    const work = path.join(freshFolder(), 'work');
    mkdirSync(path.join(work, 'engine', 'left'), { recursive: true });
    writeFileSync(path.join(work, 'engine', 'left', 'input'), 'a file of a caller');
    await shareFolders(null, { files: null, work });
    expect(readdirSync(work).toSorted()).toEqual(['engine', 'runs']);
    expect(readdirSync(path.join(work, 'engine'))).toEqual([]);
    for (const name of ['engine', 'runs'])
      expect(ownerOf(path.join(work, name))).toMatchObject({ uid: process.getuid?.(), mode: '700' });
  });

  it.runIf(isRoot)('belong to the users of their processes, who may pass through the folder above', async () => {
    const work = path.join(freshFolder(), 'work');
    mkdirSync(work, { mode: 0o700 });
    await shareFolders(users, { files: null, work });
    const { uid, gid } = users.of('engine');
    expect(ownerOf(path.join(work, 'engine'))).toEqual({ uid, gid, mode: '700' });
    expect(ownerOf(path.join(work, 'runs'))).toMatchObject({ uid: users.of('runs').uid });
    expect(ownerOf(work)).toMatchObject({ uid: 0, mode: '711' });
  });

  it("lose callers' files of a killed older version, and no file of a running process or of another user", async () => {
    const work = freshFolder();
    const kept = [`mediajobs-work-${process.pid}-abc`, 'mediajobs-workshop', 'other'];
    for (const name of [...kept, `mediajobs-work-${NO_PROCESS}-abc`]) mkdirSync(path.join(work, name));
    await shareFolders(null, { files: null, work });
    expect(readdirSync(work).toSorted()).toEqual([...kept, 'engine', 'runs'].toSorted());
  });

  it.runIf(isRoot)('are refused in a folder that others may write to when another user created one', async () => {
    const work = freshFolder();
    chmodSync(work, 0o777);
    mkdirSync(path.join(work, 'engine'));
    chownSync(path.join(work, 'engine'), 65_533, 65_533);
    await expect(shareFolders(null, { files: null, work })).rejects.toThrow('belongs to somebody else');
  });

  it('are refused when one is a link', async () => {
    const work = freshFolder();
    chmodSync(work, 0o777);
    symlinkSync(freshFolder(), path.join(work, 'engine'));
    await expect(shareFolders(null, { files: null, work })).rejects.toThrow('belongs to somebody else');
  });
});

describe('the file store', () => {
  it('stays private when the processes have no users of their own', async () => {
    const folder = freshFolder();
    const files = path.join(folder, 'files');
    await shareFolders(null, { files, work: path.join(folder, 'work') });
    expect(ownerOf(files)).toMatchObject({ uid: process.getuid?.(), mode: '700' });
  });

  it.runIf(isRoot)('belongs to the group of the processes that share it, with what older versions stored', async () => {
    const folder = freshFolder();
    const files = path.join(folder, 'files');
    const object = path.join(files, 'objects', 'outputs', 'job_1');
    mkdirSync(object, { recursive: true, mode: 0o700 });
    writeFileSync(path.join(object, '@content'), 'output', { mode: 0o600 });
    await shareFolders(users, { files, work: path.join(folder, 'work') });
    expect(ownerOf(files)).toEqual({ uid: 0, gid: users.records, mode: '2770' });
    expect(ownerOf(object)).toEqual({ uid: 0, gid: users.records, mode: '2770' });
    expect(ownerOf(path.join(object, '@content'))).toEqual({ uid: 0, gid: users.records, mode: '660' });
  });

  it.runIf(isRoot)('is completed after a start that was killed while it shared the folders', async () => {
    const folder = freshFolder();
    const files = path.join(folder, 'files');
    for (const name of ['done', 'open']) mkdirSync(path.join(files, name), { recursive: true, mode: 0o700 });
    writeFileSync(path.join(files, 'open', '@content'), 'output', { mode: 0o600 });
    chownSync(path.join(files, 'done'), 0, users.records);
    chmodSync(path.join(files, 'done'), 0o2770);
    await shareFolders(users, { files, work: path.join(folder, 'work') });
    expect(ownerOf(path.join(files, 'open', '@content'))).toMatchObject({ gid: users.records, mode: '660' });
  });

  it.runIf(isRoot)('changes no file that a link in it leads to', async () => {
    const folder = freshFolder();
    const files = path.join(folder, 'files');
    const target = path.join(folder, 'target');
    mkdirSync(files);
    writeFileSync(target, 'of somebody else', { mode: 0o600 });
    symlinkSync(target, path.join(files, 'link'));
    await shareFolders(users, { files, work: path.join(folder, 'work') });
    expect(ownerOf(target)).toEqual({ uid: 0, gid: 0, mode: '600' });
  });
});
