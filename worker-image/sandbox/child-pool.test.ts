import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeLog } from '#crds/process/log.ts';
import type { FileTask } from '#worker-image/engine/process-file.ts';
import { ChildPool, type PoolInput, type PoolOptions } from '#worker-image/sandbox/child-pool.ts';
import { probeIsolation, type Isolation } from '#worker-image/tools/isolation.ts';
import { noisyPng, writeEngineInput } from '#test/support/engine-inputs.ts';

const log = makeLog('test', 'silent');
let isolation: Isolation;
let image: Buffer;
let directory: string;
let pool: ChildPool | null;

beforeAll(async () => {
  [isolation, image] = await Promise.all([probeIsolation(), noisyPng()]);
});
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'child-pool-'));
  pool = null;
});
afterEach(async () => {
  await pool?.close();
  await rm(directory, { recursive: true, maxRetries: 5 });
});

describe('ChildPool', () => {
  it('processes several files at once and queues others', async () => {
    pool = open({ children: 2, queue: 2 });
    const from = pool;
    const all = await Promise.all([1, 2, 3, 4].map(async () => kindOf(from, await input())));
    expect(all).toEqual(['image', 'image', 'image', 'image']);
    expect([pool.busy(), pool.waiting()]).toEqual([0, 0]);
  });

  // Promise, Bad input, case by case: Busy, hanging and crashing engines
  it('refuses a file with engine_busy when the queue is full', async () => {
    pool = open({ children: 1, queue: 0 });
    const first = kindOf(pool, await input());
    await expect(pool.process(await input())).rejects.toMatchObject({ code: 'engine_busy' });
    await first;
  });

  // Promise, Bad input, case by case: A client that disconnects
  it('removes an aborted file from the queue', async () => {
    pool = open({ children: 1, queue: 1 });
    const first = kindOf(pool, await input());
    const stop = new AbortController();
    const waiting = pool.process({ ...(await input()), signal: stop.signal });
    stop.abort(new Error('client disconnected'));
    await expect(waiting).rejects.toThrow('client disconnected');
    await first;
    expect([pool.busy(), pool.waiting()]).toEqual([0, 0]);
  });

  it('processes the next file after a refused one', async () => {
    pool = open({ children: 1, queue: 0, filesPerChild: 5 });
    const damaged = await input({}, Buffer.from('\xff\xd8\xff\xe0', 'latin1'));
    await expect(pool.process(damaged)).rejects.toMatchObject({ code: 'processing_failed' });
    expect(await kindOf(pool, await input())).toBe('image');
  });

  it('uses a process for several files of one tenant, and replaces it after filesPerChild files', async () => {
    pool = open({ filesPerChild: 2 });
    const roots = [await rootDirectoryAfter(pool, 'a'), await rootDirectoryAfter(pool, 'a')];
    expect(roots[0]).toBe(roots[1]);
    await expect.poll(() => existsSync(roots[0] ?? '')).toBe(false);
  });

  it.each([
    ['was refused', Buffer.from('\xff\xd8\xff\xe0', 'latin1')],
    ['succeeded with a warning', null],
  ])('ends the process of a file that %s', async (_what, bytes) => {
    pool = open({ filesPerChild: 9 });
    const named = { filename: 'picture.gif' };
    const before = await rootDirectoriesIn(directory);
    await kindOf(pool, await input(named, bytes ?? image)).catch(() => undefined);
    await expect
      .poll(async () => (await rootDirectoriesIn(directory)).some((root) => before.includes(root)))
      .toBe(false);
  });
});

async function rootDirectoriesIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith('work-'));
}

/** Processes a file and closes its output. Returns the kind of the file. */
async function kindOf(from: ChildPool, request: PoolInput): Promise<string> {
  const { output, report } = await from.process(request);
  await output.close();
  return report.result.kind;
}

/** Processes a file of the tenant. Returns the root directory of its process. */
async function rootDirectoryAfter(from: ChildPool, tenant: string): Promise<string> {
  const request = { ...(await input()), tenant };
  const processed = kindOf(from, request);
  await expect.poll(() => existsSync(request.task.directory)).toBe(false);
  const roots = await rootDirectoriesIn(directory);
  const root = roots.map((name) => join(directory, name)).find((path) => existsSync(join(path, 'file')));
  await processed;
  return root ?? '';
}

function open(more: Partial<PoolOptions>): ChildPool {
  return new ChildPool({ log, isolation, directory, children: 1, queue: 0, extra: 0, filesPerChild: 1, ...more });
}

async function input(task: Partial<FileTask> = {}, bytes = image): Promise<PoolInput> {
  return { ...(await writeEngineInput(directory, bytes, task)), tenant: 'a' };
}
