import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MediaError } from '#crds/contract/media-error.ts';
import { resolveOptions } from '#crds/catalogue/options/options.ts';
import { fileLimits } from '#crds/catalogue/plans.ts';
import { makeLog } from '#crds/process/log.ts';
import { ChildPool, type PoolInput, type PoolOptions } from '#worker-image/sandbox/child-pool.ts';
import { SandboxedEngine } from '#worker-image/sandbox/sandboxed-engine.ts';
import { EngineKilled } from '#worker-image/sandbox/engine-messages.ts';
import { ForeignFile } from '#crds/process/checked-file.ts';
import { NO_ISOLATION, probeIsolation, type Isolation } from '#worker-image/tools/isolation.ts';

const log = makeLog('test', 'silent');
let isolation: Isolation;
let image: Buffer;
let directory: string;
let pool: ChildPool | null;
let inputs = 0;

beforeAll(async () => {
  isolation = await probeIsolation();
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
  image = await sharp({ create: { width: 200, height: 100, channels: 3, background: '#888', noise } })
    .png()
    .toBuffer();
});
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'child-pool-'));
  pool = null;
});
afterEach(async () => {
  await pool?.close();
  await rm(directory, { recursive: true, maxRetries: 5 });
});

describe('SandboxedEngine', () => {
  it('processes a file after the announcement of any kind', async () => {
    const child = start(isolation);
    child.expect('image');
    child.expect('font');
    expect((await child.process(await input())).report.result).toMatchObject({ kind: 'image' });
    await child.kill();
  });

  it.each(['isolated as far as the machine allows', 'without any namespace'])('processes a file %s', async (how) => {
    const child = start(how.startsWith('iso') ? isolation : NO_ISOLATION);
    const { report } = await child.process(await input());
    expect(report.result).toMatchObject({ kind: 'image', input_format: 'png' });
    expect(child.rssBytes()).toBeGreaterThan(0);
    await child.kill();
  });

  it('throws a refusal with its code and param', async () => {
    const child = start(isolation);
    const task = { operation: 'convert', options: resolveOptions(new Map()) } as const;
    await expect(child.process(await input(task))).rejects.toMatchObject({
      name: 'MediaError',
      code: 'invalid_options',
      param: 'convert.to',
    });
    await child.kill();
  });

  it('refuses a file that makes the process crash', async () => {
    const child = start(NO_ISOLATION);
    const crashed = child.process(await input());
    process.kill(child.pid, 'SIGSEGV');
    await expect(crashed).rejects.toMatchObject({ code: 'processing_failed' });
    await child.ended;
  });

  it('refuses the file when the prefix command exits with the code of a crash', async () => {
    const child = start({ ...NO_ISOLATION, child: () => ['sh', '-c', 'exit 139'] });
    await expect(child.process(await input())).rejects.toMatchObject({ code: 'processing_failed' });
    await child.ended;
  });

  it('throws EngineKilled when the system kills the process', async () => {
    const child = start(isolation);
    const killed = child.process(await input());
    process.kill(child.pid, 'SIGKILL');
    await expect(killed).rejects.toThrow(EngineKilled);
    await child.ended;
  });

  it('throws EngineKilled when the process inside its namespace is killed', async ({ skip }) => {
    if (!isolation.ownsProcesses) skip();
    const child = start(isolation);
    const killed = child.process(await input());
    await expect.poll(() => childOf(child.pid)).toBeGreaterThan(0);
    process.kill(childOf(child.pid), 'SIGKILL');
    await expect(killed).rejects.toThrow(EngineKilled);
    await child.ended;
  });

  it.each(['false', 'no-such-program'])(
    'throws EngineKilled when the process does not start, behind %s',
    async (prefix) => {
      const child = start({ ...NO_ISOLATION, child: () => [prefix] });
      await expect(child.process(await input())).rejects.toThrow(EngineKilled);
      await child.ended;
      await expect(child.process(await input())).rejects.toThrow(EngineKilled);
    },
  );

  it('throws the reason of an abort once the process has ended', async () => {
    const child = start(isolation);
    const stop = new AbortController();
    const request = { ...(await input()), signal: stop.signal };
    const stopped = child.process(request);
    const reason = new MediaError('timeout', 'too long');
    await expect.poll(() => child.files()).toBe(1);
    stop.abort(reason);
    await expect(stopped).rejects.toBe(reason);
    await child.ended;
    expect(isAlive(child.pid)).toBe(false);
  });
});

describe('ChildPool', () => {
  it('processes several files at once and queues others', async () => {
    pool = open({ children: 2, queue: 2 });
    const all = await Promise.all([1, 2, 3, 4].map(async () => pool?.process(await input())));
    expect(all.map((file) => file?.report.result.kind)).toEqual(['image', 'image', 'image', 'image']);
    expect([pool.busy(), pool.waiting()]).toEqual([0, 0]);
  });

  it('refuses a file with engine_busy when the queue is full', async () => {
    pool = open({ children: 1, queue: 0 });
    const first = pool.process(await input());
    await expect(pool.process(await input())).rejects.toMatchObject({ code: 'engine_busy' });
    await first;
  });

  it('removes an aborted file from the queue', async () => {
    pool = open({ children: 1, queue: 1 });
    const first = pool.process(await input());
    const stop = new AbortController();
    const waiting = pool.process({ ...(await input()), signal: stop.signal });
    stop.abort(new Error('client gone'));
    await expect(waiting).rejects.toThrow('client gone');
    await first;
    expect([pool.busy(), pool.waiting()]).toEqual([0, 0]);
  });

  it('processes the next file after a refused one', async () => {
    pool = open({ children: 1, queue: 0, filesPerChild: 5 });
    const damaged = await input({}, Buffer.from('\xff\xd8\xff\xe0', 'latin1'));
    await expect(pool.process(damaged)).rejects.toMatchObject({ code: 'processing_failed' });
    expect((await pool.process(await input())).report.result.kind).toBe('image');
  });

  it('uses a process for several files of one tenant, and replaces it after filesPerChild files', async () => {
    pool = open({ filesPerChild: 2 });
    const roots = [await rootDirectoryAfter(pool, 'a'), await rootDirectoryAfter(pool, 'a')];
    expect(roots[0]).toBe(roots[1]);
    await expect.poll(() => existsSync(roots[0] ?? '')).toBe(false);
  });

  it.each([
    ['was refused', Buffer.from('\xff\xd8\xff\xe0', 'latin1')],
    ['came with a warning', null],
  ])('ends the process of a file that %s', async (_what, bytes) => {
    pool = open({ filesPerChild: 9 });
    const named = { filename: 'picture.gif' };
    const before = await rootDirectoriesIn(directory);
    await pool.process(await input(named, bytes ?? image)).catch(() => undefined);
    await expect
      .poll(async () => (await rootDirectoriesIn(directory)).some((root) => before.includes(root)))
      .toBe(false);
  });
});

describe('the root directory of an engine process', () => {
  it.each([
    ['ends a process whose work left something there', true],
    ['lets it go on when nothing is left', false],
  ])('%s', async (_what, leaves) => {
    const child = start(isolation);
    const [root = ''] = await rootDirectoriesIn(directory);
    if (leaves) await writeFile(join(directory, root, 'left'), 'of a file');
    await child.process(await input());
    const ended = child.ended.then(() => 'ended');
    expect(
      await Promise.race([
        ended,
        child.process(await input()).then(
          () => 'alive',
          () => 'ended',
        ),
      ]),
    ).toBe(leaves ? 'ended' : 'alive');
    await child.kill();
  });

  it.each(['tmp', 'dev/shm'])('ends a process whose tools left a file in its private %s', async (folder) => {
    if (!isolation.ownsMemory) return;
    const child = start(isolation);
    await child.process(await input());
    await writeFile(join(`/proc/${innermost(child.pid)}/root`, folder, 'left'), 'of a file');
    await child.process(await input());
    await child.ended;
  });

  it('accepts no symbolic link as an input', async () => {
    pool = open({ children: 1, queue: 0 });
    const other = await input();
    const own = await input();
    await rm(own.task.path);
    await symlink(other.task.path, own.task.path);
    await expect(pool.process(own)).rejects.toThrow(ForeignFile);
  });

  it('is removed with its files', async () => {
    pool = open({ children: 1, queue: 0 });
    const request = await input();
    await using output = (await pool.process(request)).output;
    expect(existsSync(request.task.directory)).toBe(false);
    expect((await output.readFile()).length).toBeGreaterThan(0);
    await pool.close();
    expect(await readdir(directory)).toEqual([]);
  });
});

async function rootDirectoriesIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith('home-'));
}

/** Processes a file of the tenant. Returns the root directory of its process. */
async function rootDirectoryAfter(from: ChildPool, tenant: string): Promise<string> {
  const request = { ...(await input()), tenant };
  const processed = from.process(request);
  await expect.poll(() => existsSync(request.task.directory)).toBe(false);
  const roots = await rootDirectoriesIn(directory);
  const root = roots.map((name) => join(directory, name)).find((path) => existsSync(join(path, 'file')));
  await processed;
  return root ?? '';
}

function start(level: Isolation): SandboxedEngine {
  return new SandboxedEngine({ log }, { isolation: level, folder: directory });
}

function open(more: Partial<PoolOptions>): ChildPool {
  return new ChildPool({ log, isolation, directory, children: 1, queue: 0, extra: 0, filesPerChild: 1, ...more });
}

async function input(task: Partial<PoolInput['task']> = {}, bytes = image): Promise<PoolInput> {
  inputs += 1;
  const own = join(directory, String(inputs));
  await mkdir(own);
  await writeFile(join(own, 'input'), bytes);
  return {
    tenant: 'a',
    task: {
      operation: 'compress',
      options: resolveOptions(new Map()),
      limits: fileLimits('payg'),
      features: { video: false, heicOutput: false },
      lane: 'direct',
      path: join(own, 'input'),
      filename: null,
      directory: own,
      ...task,
    },
    versions: {},
    onProgress: () => undefined,
    signal: new AbortController().signal,
  };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function innermost(pid: number): number {
  const inner = childOf(pid);
  return inner === 0 ? pid : innermost(inner);
}

/** Returns the id of the process's child; 0: none. */
function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
}
