import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import sharp from 'sharp';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MediaError } from '#crds/media-error.ts';
import { resolveOptions } from '#crds/options/options.ts';
import { fileLimits } from '#crds/plans.ts';
import { startChildPool, type ChildPool, type PoolInput, type PoolOptions } from '#worker-image/engine/child-pool.ts';
import { startChildAtHome } from '#worker-image/engine/child-at-home.ts';
import { EngineKilled, startEngineChild } from '#worker-image/engine/engine-child.ts';
import { probeIsolation, type Isolation } from '#worker-image/tools/isolation.ts';

const BARE: Isolation = { tool: [], child: () => [], ownsProcesses: false, seesOnlyHome: false, summary: 'none' };
let isolation: Isolation;
let picture: Buffer;
let directory: string;
let pool: ChildPool | null;
let made = 0;

beforeAll(async () => {
  isolation = await probeIsolation();
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
  picture = await sharp({ create: { width: 200, height: 100, channels: 3, background: '#888', noise } })
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

describe('startEngineChild', () => {
  it('works on a file after it was told to expect one, of whatever kind', async () => {
    const child = startEngineChild(isolation, directory);
    child.expect('image');
    child.expect('font');
    expect((await child.process(await input())).report.result).toMatchObject({ kind: 'image' });
    await child.kill();
  });

  it.each(['isolated as far as the machine allows', 'without any namespace'])('works on a file %s', async (how) => {
    const child = startEngineChild(how.startsWith('iso') ? isolation : BARE, directory);
    const { report } = await child.process(await input());
    expect(report.result).toMatchObject({ kind: 'image', input_format: 'png' });
    expect(child.rssBytes()).toBeGreaterThan(0);
    await child.kill();
  });

  it('hands a refusal over with its code and param', async () => {
    const child = startEngineChild(isolation, directory);
    const task = { operation: 'convert', options: resolveOptions(new Map()) } as const;
    await expect(child.process(await input(task))).rejects.toMatchObject({
      name: 'MediaError',
      code: 'invalid_options',
      param: 'convert.to',
    });
    await child.kill();
  });

  it('blames the file when it makes the process crash', async () => {
    const child = startEngineChild(BARE, directory);
    const crashed = child.process(await input());
    process.kill(child.pid, 'SIGSEGV');
    await expect(crashed).rejects.toMatchObject({ code: 'processing_failed' });
    await child.ended;
  });

  it('blames the file when what stands before the process says that it crashed', async () => {
    const child = startEngineChild({ ...BARE, child: () => ['sh', '-c', 'exit 139'] }, directory);
    await expect(child.process(await input())).rejects.toMatchObject({ code: 'processing_failed' });
    await child.ended;
  });

  it('does not blame the file when the system kills the process', async () => {
    const child = startEngineChild(isolation, directory);
    const killed = child.process(await input());
    process.kill(child.pid, 'SIGKILL');
    await expect(killed).rejects.toThrow(EngineKilled);
    await child.ended;
  });

  it('does not blame the file when the process inside its namespace is killed', async ({ skip }) => {
    if (!isolation.ownsProcesses) skip();
    const child = startEngineChild(isolation, directory);
    const killed = child.process(await input());
    await expect.poll(() => childOf(child.pid)).toBeGreaterThan(0);
    process.kill(childOf(child.pid), 'SIGKILL');
    await expect(killed).rejects.toThrow(EngineKilled);
    await child.ended;
  });

  it.each(['false', 'no-such-program'])('says so when the process does not start at all, behind %s', async (prefix) => {
    const child = startEngineChild({ ...BARE, child: () => [prefix] }, directory);
    await expect(child.process(await input())).rejects.toThrow(EngineKilled);
    await child.ended;
    await expect(child.process(await input())).rejects.toThrow(EngineKilled);
  });

  it('throws the reason of an abort once the process is gone', async () => {
    const child = startEngineChild(isolation, directory);
    const stop = new AbortController();
    const stopped = child.process({ ...(await input()), signal: stop.signal });
    const reason = new MediaError('timeout', 'too long');
    stop.abort(reason);
    await expect(stopped).rejects.toBe(reason);
    await child.ended;
    expect(isAlive(child.pid)).toBe(false);
  });
});

describe('startChildPool', () => {
  it('works on several files at once and lets others wait', async () => {
    pool = open({ children: 2, queue: 2 });
    const all = await Promise.all([1, 2, 3, 4].map(async () => pool?.process(await input())));
    expect(all.map((file) => file?.report.result.kind)).toEqual(['image', 'image', 'image', 'image']);
    expect([pool.busy(), pool.waiting()]).toEqual([0, 0]);
  });

  it('refuses with engine_busy when too many wait', async () => {
    pool = open({ children: 1, queue: 0 });
    const first = pool.process(await input());
    await expect(pool.process(await input())).rejects.toMatchObject({ code: 'engine_busy' });
    await first;
  });

  it('lets a file that waits leave the line', async () => {
    pool = open({ children: 1, queue: 1 });
    const first = pool.process(await input());
    const stop = new AbortController();
    const waiting = pool.process({ ...(await input()), signal: stop.signal });
    stop.abort(new Error('client gone'));
    await expect(waiting).rejects.toThrow('client gone');
    await first;
    expect([pool.busy(), pool.waiting()]).toEqual([0, 0]);
  });

  it('goes on after a file that is refused', async () => {
    pool = open({ children: 1, queue: 0, filesPerChild: 5 });
    const damaged = await input({}, Buffer.from('\xff\xd8\xff\xe0', 'latin1'));
    await expect(pool.process(damaged)).rejects.toMatchObject({ code: 'processing_failed' });
    expect((await pool.process(await input())).report.result.kind).toBe('image');
  });

  it('uses a process for several files of one tenant, and replaces it after as many as are allowed', async () => {
    pool = open({ filesPerChild: 2 });
    const homes = [await homeAfter(pool, 'a'), await homeAfter(pool, 'a')];
    expect(homes[0]).toBe(homes[1]);
    await expect.poll(() => existsSync(homes[0] ?? '')).toBe(false);
  });

  it.each([
    ['was refused', Buffer.from('\xff\xd8\xff\xe0', 'latin1')],
    ['came with a warning', null],
  ])('ends the process of a file that %s', async (_what, bytes) => {
    pool = open({ filesPerChild: 9 });
    const named = { filename: 'picture.gif' };
    const before = await homesIn(directory);
    await pool.process(await input(named, bytes ?? picture)).catch(() => undefined);
    await expect.poll(async () => (await homesIn(directory)).some((home) => before.includes(home))).toBe(false);
  });
});

describe('the home of an engine process', () => {
  it.each([
    ['ends a process whose work left something there', true],
    ['lets it go on when nothing is left', false],
  ])('%s', async (_what, leaves) => {
    const child = startChildAtHome(isolation, directory);
    const [home = ''] = await homesIn(directory);
    if (leaves) await writeFile(join(directory, home, 'left'), 'of a file');
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

  it.each(['tmp', 'dev/shm'])(
    'ends a process whose work left something in %s, where it has its own',
    async (folder) => {
      if (!isolation.seesOnlyHome) return;
      const child = startChildAtHome(isolation, directory);
      await child.process(await input());
      await writeFile(join(`/proc/${innermost(child.pid)}/root`, folder, 'left'), 'of a file');
      await child.process(await input());
      await child.ended;
    },
  );

  it.each([
    ['is all that it sees of callers where the machine allows that', (): Isolation => isolation],
    ['does not matter without walls', (): Isolation => BARE],
  ])('%s', async (_what, walls) => {
    pool = open({ isolation: walls(), children: 1, queue: 0 });
    const other = await input();
    const own = await input();
    await rm(own.task.path);
    await symlink(other.task.path, own.task.path);
    const read = pool.process(own).then(
      () => true,
      (error: Error) => (error.message.includes('ENOENT') ? false : Promise.reject(error)),
    );
    expect(await read).toBe(!walls().seesOnlyHome);
  });

  it('gives the directory back with the result, and leaves nothing', async () => {
    pool = open({ children: 1, queue: 0 });
    const asked = await input();
    const file = await pool.process(asked);
    expect(file.path.startsWith(`${asked.task.directory}/`)).toBe(true);
    expect((await stat(file.path)).size).toBeGreaterThan(0);
    await pool.close();
    expect(await readdir(directory)).toEqual([basename(asked.task.directory)]);
  });
});

async function homesIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith('home-'));
}

/** The home of the one process that has opened the tenant's file. */
async function homeAfter(from: ChildPool, tenant: string): Promise<string> {
  const asked = { ...(await input()), tenant };
  const lent = from.process(asked);
  await expect.poll(() => existsSync(asked.task.directory)).toBe(false);
  const homes = await homesIn(directory);
  const home = homes.map((name) => join(directory, name)).find((path) => existsSync(join(path, 'file')));
  await lent;
  return home ?? '';
}

function open(more: Partial<PoolOptions>): ChildPool {
  return startChildPool({ isolation, directory, children: 1, queue: 0, filesPerChild: 1, ...more });
}

async function input(task: Partial<PoolInput['task']> = {}, bytes = picture): Promise<PoolInput> {
  made += 1;
  const own = join(directory, String(made));
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

/** 0: none. */
function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
}
