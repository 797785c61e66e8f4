import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { awaitPreviousRun, recordProcesses } from '#api/embedded/previous-run.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'mediajobs-previous-'));
const file = path.join(folder, 'processes.json');
afterAll(() => rmSync(folder, { recursive: true }));

describe('a start', () => {
  it('waits for the recorded processes of the previous run', async () => {
    const child = spawn('sleep', ['60']);
    const ended = once(child, 'exit');
    recordProcesses(file, [{ name: 'api', pid: child.pid! }]);
    let isOver = false;
    const waiting = awaitPreviousRun(file).then(() => (isOver = true));
    await setImmediate();
    expect(isOver).toBe(false);
    child.kill('SIGKILL');
    await ended;
    await waiting;
  });

  it.each<[string, (record: { bootId: string; processes: { startedAtTick: number }[] }) => void]>([
    ['of another boot', (record) => (record.bootId = 'another')],
    ['whose process id another program has', ({ processes }) => (processes[0]!.startedAtTick += 1)],
  ])('does not wait for a record %s', async (_which, change) => {
    recordProcesses(file, [{ name: 'api', pid: process.pid }]);
    const record = JSON.parse(readFileSync(file, 'utf8')) as Parameters<typeof change>[0];
    change(record);
    writeFileSync(file, JSON.stringify(record));
    await awaitPreviousRun(file);
  });

  it('does not wait without a record, or with a damaged one', async () => {
    await awaitPreviousRun(path.join(folder, 'missing.json'));
    writeFileSync(file, '{"processes"');
    await awaitPreviousRun(file);
  });
});
