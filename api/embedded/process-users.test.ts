import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PROCESSES } from '#api/embedded/process-list.ts';
import { chooseUsers, firstNumberOf, usableNumbers, usersFrom } from '#api/embedded/process-users.ts';

const isRoot = process.getuid?.() === 0;
const names = PROCESSES.map(({ name }) => name);

function freshFile(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'process-users-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, 'users.json');
}

function firstIn(file: string): number {
  return (JSON.parse(readFileSync(file, 'utf8')) as { first: number }).first;
}

/** Runs a process with a user id until the test ends, or for `endsAfterMs`. */
async function startAs(uid: number, endsAfterMs: number | null = null): Promise<void> {
  const identity = ['--reuid', String(uid), '--regid', String(uid), '--clear-groups', '--'];
  const child = spawn('setpriv', [...identity, 'sh', '-c', 'echo started; exec sleep 60'], { cwd: '/' });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await once(child.stdout, 'data');
  if (endsAfterMs !== null) setTimeout(() => child.kill('SIGKILL'), endsAfterMs);
}

describe('the users of the processes', () => {
  it('are a different user and group for each process', () => {
    const users = usersFrom(70_000);
    expect(new Set(names.map((name) => users.of(name).uid)).size).toBe(names.length);
    for (const name of names) expect(users.of(name).gid).toBe(users.of(name).uid);
  });

  it('put the processes that share database and files in one more group, and no other', () => {
    const users = usersFrom(70_000);
    expect(names.filter((name) => users.of(name).groups.includes(users.records)).toSorted()).toEqual([
      'api',
      'control',
      'courier',
    ]);
    expect(names.map((name) => users.of(name).uid)).not.toContain(users.records);
  });
});

describe('the numbers to choose from', () => {
  it.each([
    ['a machine', '         0          0 4294967295\n'],
    ['a namespace that is mapped in two parts', '0 1000 1\n1 100000 200000\n'],
  ])('are those from 65536 on where all are mapped: %s', (_name, map) => {
    expect(usableNumbers(map)).toEqual({ lowest: 65_536, end: 100_000 });
  });

  it.each([
    ['rootless Docker', '         0       1000          1\n         1     100000      65536\n'],
    ['a remapped user namespace', '         0     100000      65536\n'],
  ])('are below 60000 in a user namespace of 65536 numbers: %s', (_name, map) => {
    const numbers = usableNumbers(map);
    expect(numbers).toEqual({ lowest: 32_768, end: 60_000 });
    expect(firstNumberOf('/usr', numbers)).toBeGreaterThanOrEqual(32_768);
    expect(firstNumberOf('/usr', numbers) + 16).toBeLessThanOrEqual(60_000);
  });
});

describe('the choice of user numbers', () => {
  it('is a range of free numbers between those of the machine and those of containers, and is recorded', async () => {
    const file = freshFile();
    const users = await chooseUsers('/usr', file);
    expect(users.of('api').uid).toBe(firstIn(file));
    expect(firstIn(file)).toBeGreaterThanOrEqual(65_536);
    expect(users.records).toBeLessThan(100_000);
  });

  it('is the recorded one at the next start', async () => {
    const file = freshFile();
    writeFileSync(file, '{"first": 80000}');
    expect((await chooseUsers('/usr', file)).of('api').uid).toBe(80_000);
  });

  it.each(['', '{"first": 1000}', '{"first": 99999}', '[]', '{"first": "65536"}'])(
    'is created again when the record is %j',
    async (content) => {
      const file = freshFile();
      writeFileSync(file, content);
      const { uid } = (await chooseUsers('/usr', file)).of('api');
      expect(uid).toBeGreaterThanOrEqual(65_536);
      expect(firstIn(file)).toBe(uid);
    },
  );

  it('differs between data folders', async () => {
    const one = await chooseUsers('/usr/bin', freshFile());
    const other = await chooseUsers('/usr/share', freshFile());
    expect(one.of('api').uid).not.toBe(other.of('api').uid);
  });

  it.runIf(isRoot)('skips a range in which a process of another user has a number', async () => {
    const file = freshFile();
    writeFileSync(file, '{"first": 81008}');
    await startAs(81_020);
    expect((await chooseUsers('/usr', file)).of('api').uid).toBe(81_024);
    expect(firstIn(file)).toBe(81_024);
  });

  it.runIf(isRoot)('waits for processes of the last run that are ending', async () => {
    const file = freshFile();
    writeFileSync(file, '{"first": 82000}');
    await startAs(82_003, 300);
    expect((await chooseUsers('/usr', file)).of('api').uid).toBe(82_000);
  });
});
