/**
 * Hostile code in the decoder: `hostile-child.ts` replaces the engine process and performs each listed attack without
 * isolation. Whatever it reports or writes, its owner returns no file of the machine, harms no other process, and
 * serves the next tenant.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MediaError } from '#crds/contract/media-error.ts';
import { resolveOptions } from '#crds/catalogue/options/options.ts';
import { fileLimits } from '#crds/catalogue/plans.ts';
import { ChildPool } from '#worker-image/sandbox/child-pool.ts';
import { NO_ISOLATION } from '#worker-image/tools/isolation.ts';
import type { AttackOrders } from '#test/boundaries/hostile-child.ts';

const SCRIPT = join(import.meta.dirname, 'hostile-child.ts');
const SECRET = 'canary-3f9d2c61-of-the-machine';
const HONEST = 'what an honest process makes';
const MIB = 1024 ** 2;

let root: string;
let trap: string;
let home: string;
let stranger: ChildProcess;
let pool: ChildPool;
let warnings: string[];
let made = 0;

beforeAll(() => {
  stranger = spawn('sleep', ['3600'], { detached: true, stdio: 'ignore' });
});
afterAll(() => void stranger.kill('SIGKILL'));
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hostile-child-'));
  [trap, home] = [join(root, 'trap'), join(root, 'homes')];
  await Promise.all([mkdir(trap), mkdir(home)]);
  await writeFile(join(root, 'secret'), SECRET);
  await writeFile(join(trap, 'output'), SECRET);
  warnings = [];
  const log = { warn: (fields: object) => void warnings.push(JSON.stringify(fields)) };
  pool = new ChildPool({
    log,
    isolation: NO_ISOLATION,
    directory: home,
    children: 2,
    queue: 10,
    extra: 0,
    filesPerChild: 10,
    script: SCRIPT,
  });
});
afterEach(async () => {
  await pool.close();
  if (existsSync(join(root, 'left-pid'))) end(leftPid());
  await rm(root, { recursive: true, maxRetries: 5 });
});

/** Outcome for the caller. */
type AttackEnding = 'refused' | 'honest' | 'input' | 'lost' | 'timeout';

const OUTPUTS: readonly [attack: string, ending: AttackEnding][] = [
  ['link', 'refused'],
  ['relative link', 'refused'],
  ['link to its standard input', 'refused'],
  ['hard link', 'refused'],
  ['own folder is a link', 'refused'],
  ['own home is a link', 'refused'],
  ['own folder is deleted', 'refused'],
  ['named pipe', 'refused'],
  ['device', 'refused'],
  ['socket', 'refused'],
  ['directory', 'refused'],
  ['no output', 'refused'],
  ['sparse file of 20 GiB', 'refused'],
  ['another size', 'refused'],
  ['a kept original that is a link', 'input'],
  ['a kept original of another size', 'refused'],
  ['a kept original that it has lengthened', 'refused'],
];

const REPORTS: readonly [attack: string, ending: AttackEnding][] = [
  ['a path in its message', 'refused'],
  ['the message of before', 'refused'],
  ['pages of an image', 'refused'],
  ['another format', 'refused'],
  ['a format that does not exist', 'refused'],
  ['another kind', 'refused'],
  ['more savings', 'refused'],
  ['an original that is kept and changed', 'refused'],
  ['infinite size', 'refused'],
  ['no number as a size', 'refused'],
  ['a negative size', 'refused'],
  ['a malformed hash', 'refused'],
  ['a version of its own', 'refused'],
  ['a warning with control characters', 'refused'],
  ['a long warning', 'refused'],
  ['many warnings', 'refused'],
  ['a field more', 'refused'],
];

const MESSAGES: readonly [attack: string, ending: AttackEnding][] = [
  ['null', 'refused'],
  ['no JSON', 'refused'],
  ['an array', 'refused'],
  ['an empty line', 'refused'],
  ['bytes that are not UTF-8', 'refused'],
  ['deep JSON', 'refused'],
  ['an unknown type', 'refused'],
  ['no type', 'refused'],
  ['an unknown code', 'refused'],
  ['a code of accounts', 'refused'],
  ['a code of the prototype', 'refused'],
  ['keys of the prototype', 'refused'],
  ['a long refusal', 'refused'],
  ['a refusal with control characters', 'refused'],
  ['a message of 150 MB', 'refused'],
  ['a progress of 150 MB', 'refused'],
  ['a flood of progress', 'refused'],
  ['falling progress', 'refused'],
  ['progress above 100', 'refused'],
  ['two results at once', 'refused'],
  ['a second result while idle', 'honest'],
  ['a second budget', 'refused'],
  ["a stranger's process group", 'refused'],
];

const BEHAVIOR: readonly [attack: string, ending: AttackEnding][] = [
  ['never answers', 'timeout'],
  ['stops itself', 'timeout'],
  ['closes its pipe and lives on', 'refused'],
  ['unlimited standard error', 'timeout'],
  ['standard error with control characters', 'honest'],
  ['exits at once', 'lost'],
  ['many files', 'honest'],
  ['deep folders', 'honest'],
  ['links in the place of folders', 'honest'],
  ['folders that nobody may enter', 'honest'],
  ['a file beside its task', 'honest'],
];

describe('a compromised engine process', () => {
  it.each(OUTPUTS)('cannot return a file of the machine as its output: %s (%s)', attempt);
  it.each(REPORTS)('cannot send a report that contradicts the facts of its owner: %s (%s)', attempt);
  it.each(MESSAGES)('does no harm by its messages: %s (%s)', attempt);
  it.each(BEHAVIOR)('does no harm by its behavior: %s (%s)', attempt);

  it.each([
    'leaves a process',
    'leaves a process in a session of its own',
    'leaves a process with its own environment',
  ])('ends together with processes that it started: %s', async (attack) => {
    expect(await send(attack, 'attacker')).toBe(HONEST);
    expect(isAlive(leftPid())).toBe(true);
    await pool.close();
    expect(isAlive(leftPid())).toBe(false);
  });

  it('counts as ended when it has exited, although a process that it started holds its pipe', async () => {
    await expect(send('leaves a process that holds its pipe', 'attacker')).rejects.toThrow('system ended');
    expect(isAlive(leftPid())).toBe(false);
  });

  it.each(['a message of 150 MB', 'a progress of 150 MB', 'a flood of progress', 'unlimited standard error'])(
    'makes its owner allocate less than 64 MiB: %s',
    async (attack) => {
      await send('nothing', 'warm');
      const before = process.resourceUsage().maxRSS;
      await send(attack, 'attacker', AbortSignal.timeout(2000)).catch(() => undefined);
      expect((process.resourceUsage().maxRSS - before) / 1024).toBeLessThan(64);
    },
  );

  it('causes log lines of bounded length', async () => {
    await send('a message of 150 MB', 'attacker').catch(() => undefined);
    await send('standard error with control characters', 'other');
    expect(warnings.some((line) => line.includes('more than 65536 bytes'))).toBe(true);
    expect(warnings.some((line) => line.includes('"stderr"'))).toBe(true);
    expect(warnings.every((line) => line.length < 20_000)).toBe(true);
  });
});

/** Runs an attack and asserts its outcome for the caller, and that nothing else is harmed. */
async function attempt(attack: string, ending: AttackEnding): Promise<void> {
  expect(await endingOf(attack, ending === 'timeout' ? TIMEOUT_MS : LONG_MS)).toBe(ending);
  expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
  expect(await readFile(join(trap, 'output'), 'utf8')).toBe(SECRET);
  expect(await readFile(join(root, 'secret'), 'utf8')).toBe(SECRET);
  expect(await send('nothing', 'bystander')).toBe(HONEST);
  await pool.close();
  const homes = (await readdir(home)).filter((name) => !name.endsWith('-before'));
  expect(homes).toEqual([]);
}

/** Time limit of an attack that is to exceed it, in milliseconds. */
const TIMEOUT_MS = 4000;
/** Time limit of all others, in milliseconds: many files take seconds on a machine with other work. */
const LONG_MS = 50_000;

async function endingOf(attack: string, limitMs: number): Promise<string> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(new Error('the time is over')), limitMs);
  try {
    const output = await send(attack, 'attacker', timeout.signal);
    if (output === HONEST) return 'honest';
    return output.includes(`"attack":${JSON.stringify(attack)}`) ? 'input' : output;
  } catch (error) {
    if (timeout.signal.aborted) return 'timeout';
    if (error instanceof MediaError) return error.code === 'processing_failed' ? 'refused' : error.code;
    return (error as Error).name === 'EngineKilled' ? 'lost' : String(error);
  } finally {
    clearTimeout(timer);
  }
}

/** Sends a file and returns the output that the caller receives. */
async function send(attack: string, tenant: string, signal = new AbortController().signal): Promise<string> {
  made += 1;
  const directory = join(root, `task-${made}`);
  const orders: AttackOrders = {
    attack,
    secret: join(root, 'secret'),
    trap,
    stranger: stranger.pid ?? 0,
    leftPid: join(root, 'left-pid'),
  };
  await mkdir(directory);
  await writeFile(join(directory, 'input'), JSON.stringify(orders));
  const { output, size } = await pool.process({
    tenant,
    task: {
      operation: 'compress',
      options: resolveOptions(new Map()),
      limits: fileLimits('payg'),
      features: { video: false, heicOutput: false },
      lane: 'direct',
      path: join(directory, 'input'),
      filename: null,
      directory,
    },
    versions: { sharp: '1.0' },
    onProgress: () => undefined,
    signal,
  });
  await using file = output;
  expect(size).toBeLessThan(MIB);
  return await file.readFile('utf8');
}

function leftPid(): number {
  return Number(readFileSync(join(root, 'left-pid'), 'utf8'));
}

/** Returns whether a process runs; false for a zombie. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

function end(pid: number): void {
  if (isAlive(pid)) process.kill(pid, 'SIGKILL');
}
