import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  killDescendants,
  killGroup,
  killProcess,
  killProcessesOf,
  killTree,
  processesOf,
  readProcessStat,
  treeCpuSeconds,
} from '#crds/process/process-tree.ts';

const UNUSED_PID = 2 ** 22 + 1;
const SOON = { timeout: 20_000 };
let directory: string;
let started: ChildProcess[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'process-tree-'));
  started = [];
});
afterEach(async () => {
  for (const { pid } of started) killGroup(pid ?? UNUSED_PID);
  await rm(directory, { recursive: true });
});

/** Starts a shell in a process group of its own and returns it once it has printed a line: the pid of its child. */
async function shell(script: string, env: Readonly<Record<string, string>> = {}) {
  const child = spawn('sh', ['-c', script], { detached: true, env: { PATH: process.env.PATH, ...env } });
  started.push(child);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { pid: child.pid ?? UNUSED_PID, childPid: Number(String(line)) };
}

function isRunning(pid: number): boolean {
  return readProcessStat(pid)?.hasEnded === false;
}

describe('process tree', () => {
  it('reads parent, session and start time of a process', async () => {
    const { pid, childPid } = await shell('sleep 60 & echo $!; wait');
    expect(readProcessStat(pid)).toMatchObject({ pid, parent: process.pid, session: pid, hasEnded: false });
    expect(readProcessStat(childPid)).toMatchObject({ parent: pid, session: pid });
    expect(readProcessStat(childPid)?.startedAtTick).toBeGreaterThan(0);
  });

  it('returns null for a process that does not exist', () => {
    expect(readProcessStat(UNUSED_PID)).toBeNull();
    expect(treeCpuSeconds(UNUSED_PID)).toBe(0);
    expect(() => killProcess(UNUSED_PID)).not.toThrow();
  });

  it('counts the CPU time of descendants', async () => {
    const { pid } = await shell('(while :; do :; done) & echo $!; wait');
    await expect.poll(() => treeCpuSeconds(pid), SOON).toBeGreaterThan(0.1);
  });

  it('kills a process and its descendants', async () => {
    const { pid, childPid } = await shell('sleep 60 & echo $!; wait');
    killTree(pid);
    await expect.poll(() => isRunning(pid) || isRunning(childPid), SOON).toBe(false);
  });

  it('finds descendants in another session by their environment', async () => {
    const { pid, childPid } = await shell('setsid sleep 60 & echo $!; wait', { HOME: directory });
    expect(await killDescendants({ root: pid, directory })).toEqual([]);
    expect(isRunning(childPid)).toBe(false);
  });

  it('finds processes while they execute other programs', async () => {
    const again = 'n=$1; [ $n -lt 2000 ] && exec sh -c "$0" "$0" $((n+1)); exec sleep 60';
    const { pid } = await shell(`echo $$; exec sh -c '${again}' '${again}' 0`, { TMPDIR: directory });
    for (let scan = 0; scan < 100; scan += 1) expect(await processesOf(directory)).toEqual([pid]);
  });

  it('kills the processes whose TMPDIR is in a directory', async () => {
    const { pid, childPid } = await shell('sleep 60 & echo $!; wait', { TMPDIR: join(directory, 'below') });
    expect((await processesOf(directory)).toSorted()).toEqual([pid, childPid].toSorted());
    await killProcessesOf(directory);
    expect(await processesOf(directory)).toEqual([]);
  });
});
