/**
 * One attempt as a child process on this machine, in a private directory that is deleted at its end.
 *
 *   launched ─→ exit, outcome in the termination file → ended
 *       ╲ ────→ exit without one, or killed           → lost
 *
 * The worker's standard input is a pipe without data. Its end means that the controller has died: the worker then ends
 * its tools and itself. The kernel also sends SIGTERM when the controller dies.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { constants } from 'node:fs';
import { mkdir, open, readFile, rm, unlink, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Clock } from '#crds/process/clock.ts';
import { RUN_SPEC_DESCRIPTOR, RUN_SPEC_FILE, TERMINATION_FILE, TRIED_ISOLATION } from '#crds/contract/run-files.ts';
import type { RunOutcome, RunSpec } from '#crds/contract/run-spec.ts';
import { killGroup, killProcessesOf } from '#crds/process/process-tree.ts';
import { readTermination } from '#controller/read-termination.ts';
import type { RunState } from '#controller/runs.ts';

export interface LocalProcessOptions {
  /** The worker's script, `worker-image/run-job.ts`. */
  readonly script: string;
  /** Node executable; default: that of this process. */
  readonly execPath?: string;
  /** PATH of the worker and its tools. */
  readonly path: string;
  /** Folder of Node's compile cache, which makes a worker start faster. */
  readonly compileCache?: string;
  /** `MEDIAJOBS_ISOLATION`; default `auto`. */
  readonly isolation?: string;
  /** Returns the isolation level that `tryIsolation` has found; default and null: each worker tries the levels. */
  readonly triedIsolation?: () => string | null;
  /** `MEDIAJOBS_FAULTS_DIR`, for tests. */
  readonly faultsDir?: string;
  /** Destination of the worker's log; default: standard output of this process. */
  readonly stdout?: 'inherit' | 'ignore';
}

export interface LocalProcess {
  /** Final state and the last characters of standard error. Its processes and files are deleted before it resolves. */
  readonly done: Promise<{ readonly is: RunState; readonly stderr: string }>;
  /** Kills it with all its processes. Does nothing when it has ended. */
  kill(): void;
}

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const TERMINATION = 'termination.json';
const STDERR_CHARACTERS = 2000;

/** Starts the worker. @throws Error when the directory cannot be created or the process cannot be started. */
export async function launch(
  deps: { clock: Clock },
  options: LocalProcessOptions,
  run: { directory: string; spec: RunSpec },
): Promise<LocalProcess> {
  const { directory, spec } = run;
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { mode: 0o700 });
  const oomKillsBefore = await oomKills();
  const startedAt = deps.clock.now();
  await using specFile = await unlinkedFile(join(directory, 'run-spec.json'), JSON.stringify(spec));
  const child = spawnWorker(options, directory, specFile);
  const exited = exitOf(child);
  const stderr = captureTail(child);
  await spawned(child).catch(async (error: unknown) => {
    await rm(directory, { recursive: true, force: true });
    throw error;
  });
  let killed = false;

  const finish = async (): Promise<{ is: RunState; stderr: string }> => {
    const exit = await exited;
    await killProcessesOf(directory);
    const outcome = await readTermination(join(directory, TERMINATION));
    const outOfMemory = isOutOfMemory(exit, (await oomKills()) > oomKillsBefore);
    await rm(directory, { recursive: true, force: true });
    return { is: killed ? STOPPED : stateOf({ exit, outcome, outOfMemory, startedAt }), stderr: stderr() };
  };
  return {
    done: finish(),
    kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      killed = true;
      killGroupOf(child);
    },
  };
}

const TRIAL_TIMEOUT_MS = 120_000;

/**
 * Returns the isolation level that passes its trial on this machine, or `none`. `script` is
 * `worker-image/print-isolation.ts`. @throws Error when the trial cannot run.
 */
export async function tryIsolation(
  script: string,
  { path, execPath = process.execPath }: Pick<LocalProcessOptions, 'path' | 'execPath'>,
): Promise<string> {
  const args = ['--pdeathsig', 'KILL', '--', execPath, script];
  const { stdout } = await promisify(execFile)('setpriv', args, { env: { PATH: path }, timeout: TRIAL_TIMEOUT_MS });
  return stdout.trim();
}

const STOPPED: RunState = { state: 'lost', cause: 'stopped', message: 'it was stopped' };

/** Returns an unlinked file for reading, which no other process can open by a path. */
async function unlinkedFile(path: string, text: string): Promise<FileHandle> {
  await writeFile(path, text, { mode: 0o600, flag: 'wx' });
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  await unlink(path);
  return file;
}

function spawnWorker(options: LocalProcessOptions, directory: string, spec: FileHandle): ChildProcess {
  const node = options.execPath ?? process.execPath;
  return spawn('setpriv', ['--pdeathsig', 'TERM', '--', node, options.script], {
    cwd: directory,
    env: environment(options, directory),
    detached: true,
    // The fourth one is RUN_SPEC_DESCRIPTOR.
    stdio: ['pipe', options.stdout ?? 'inherit', 'pipe', spec.fd],
  });
}

function environment(
  { path, compileCache, faultsDir, isolation, triedIsolation }: LocalProcessOptions,
  directory: string,
): Record<string, string> {
  const level = triedIsolation?.() ?? null;
  return {
    PATH: path,
    HOME: directory,
    TMPDIR: directory,
    LANG: 'C.UTF-8',
    [RUN_SPEC_FILE]: `/proc/self/fd/${RUN_SPEC_DESCRIPTOR}`,
    [TERMINATION_FILE]: join(directory, TERMINATION),
    ...(compileCache === undefined ? {} : { NODE_COMPILE_CACHE: compileCache }),
    ...(isolation === undefined ? {} : { MEDIAJOBS_ISOLATION: isolation }),
    ...(level === null ? {} : { [TRIED_ISOLATION]: level }),
    ...(faultsDir === undefined ? {} : { MEDIAJOBS_FAULTS_DIR: faultsDir }),
  };
}

function spawned(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
}

function captureTail(child: ChildProcess): () => string {
  let tail = '';
  child.stderr?.setEncoding('utf8');
  child.stderr?.on('data', (text: string) => {
    tail = `${tail}${text}`.slice(-STDERR_CHARACTERS);
  });
  return () => tail;
}

function stateOf({
  exit,
  outcome,
  outOfMemory,
  startedAt,
}: {
  exit: Exit;
  outcome: RunOutcome | null;
  outOfMemory: boolean;
  startedAt: Date;
}): RunState {
  if (outcome !== null) return { state: 'ended', startedAt, outcome };
  const how =
    exit.signal === null
      ? `its worker ended with exit code ${exit.code} and without an outcome`
      : `its worker was killed by ${exit.signal}`;
  if (outOfMemory) return { state: 'lost', cause: 'out_of_memory', message: `${how}, out of memory` };
  return { state: 'lost', cause: 'crashed', message: how };
}

/** Returns whether memory ran out: Node ends with SIGABRT when its heap is full; the kernel counts its own SIGKILLs. */
function isOutOfMemory({ code, signal }: Exit, kernelKilled: boolean): boolean {
  return signal === 'SIGABRT' || code === 134 || (signal === 'SIGKILL' && kernelKilled);
}

/** Returns the number of processes that the kernel's OOM killer has ended since boot; 0 when unknown. */
async function oomKills(): Promise<number> {
  const statistics = await readFile('/proc/vmstat', 'utf8').catch(() => '');
  return Number(/^oom_kill (\d+)$/m.exec(statistics)?.[1] ?? 0);
}

function killGroupOf(child: ChildProcess): void {
  if (child.pid !== undefined) killGroup(child.pid);
}
