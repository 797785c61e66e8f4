/**
 * One attempt as a child process of this machine, in a private directory that is gone with it.
 *
 *   launched ─→ exit, outcome in the termination file → ended
 *       ╲ ────→ exit without one, or killed           → lost
 *
 * The worker's standard input is a pipe that nothing is written to: its end means that the controller
 * is gone, and the worker has to end its tools and itself. SIGTERM, which the kernel sends when the
 * controller dies, means the same.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#crds/shared/clock.ts';
import { parseRunOutcome, RUN_SPEC_FILE, TERMINATION_FILE, type RunOutcome, type RunSpec } from '#crds/run-spec.ts';
import { kill, killProcessesOf } from '#controller/process-tree.ts';
import type { RunState } from '#controller/runs.ts';

export interface LocalProcessOptions {
  /** The worker's script, `worker-image/run-job.ts`. */
  readonly script: string;
  /** Node that runs it; by default the one that runs this process. */
  readonly execPath?: string;
  /** PATH of the worker and its tools. */
  readonly path: string;
  /** Where Node keeps compiled code, so that a worker starts faster. */
  readonly compileCache?: string;
  /** `MEDIAJOBS_FAULTS_DIR`, for tests. */
  readonly faultsDir?: string;
  /** Where the worker's log goes; by default to this process's standard output. */
  readonly stdout?: 'inherit' | 'ignore';
}

export interface LocalProcess {
  /** How it ended, and the end of what it wrote to standard error. All its processes and files are gone by then. */
  readonly done: Promise<{ readonly is: RunState; readonly stderr: string }>;
  /** Ends it with all its processes; nothing happens when it has ended. */
  kill(): void;
}

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const SPEC = 'run-spec.json';
const TERMINATION = 'termination.json';
const STDERR_CHARACTERS = 2000;

/** Starts the worker. @throws Error when the directory cannot be made or the process not started. */
export async function launch(
  deps: { clock: Clock },
  options: LocalProcessOptions,
  run: { directory: string; spec: RunSpec },
): Promise<LocalProcess> {
  const { directory, spec } = run;
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { mode: 0o700 });
  await writeFile(join(directory, SPEC), JSON.stringify(spec), { mode: 0o600, flag: 'wx' });
  const oomKillsBefore = await oomKills();
  const startedAt = deps.clock.now();
  const child = spawnWorker(options, directory);
  const exited = exitOf(child);
  const stderr = keepEnd(child);
  await spawned(child).catch(async (error: unknown) => {
    await rm(directory, { recursive: true, force: true });
    throw error;
  });
  let killed = false;

  const finish = async (): Promise<{ is: RunState; stderr: string }> => {
    const exit = await exited;
    await killProcessesOf(directory);
    const outcome = await readOutcome(directory);
    const outOfMemory = isOutOfMemory(exit, (await oomKills()) > oomKillsBefore);
    await rm(directory, { recursive: true, force: true });
    return { is: killed ? STOPPED : stateOf({ exit, outcome, outOfMemory, startedAt }), stderr: stderr() };
  };
  return {
    done: finish(),
    kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      killed = true;
      killGroup(child);
    },
  };
}

const STOPPED: RunState = { state: 'lost', cause: 'stopped', message: 'it was stopped' };

function spawnWorker(options: LocalProcessOptions, directory: string): ChildProcess {
  const node = options.execPath ?? process.execPath;
  return spawn('setpriv', ['--pdeathsig', 'TERM', '--', node, options.script], {
    cwd: directory,
    env: environment(options, directory),
    detached: true,
    stdio: ['pipe', options.stdout ?? 'inherit', 'pipe'],
  });
}

function environment(
  { path, compileCache, faultsDir }: LocalProcessOptions,
  directory: string,
): Record<string, string> {
  return {
    PATH: path,
    HOME: directory,
    TMPDIR: directory,
    LANG: 'C.UTF-8',
    [RUN_SPEC_FILE]: join(directory, SPEC),
    [TERMINATION_FILE]: join(directory, TERMINATION),
    ...(compileCache === undefined ? {} : { NODE_COMPILE_CACHE: compileCache }),
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

function keepEnd(child: ChildProcess): () => string {
  let kept = '';
  child.stderr?.setEncoding('utf8');
  child.stderr?.on('data', (text: string) => {
    kept = `${kept}${text}`.slice(-STDERR_CHARACTERS);
  });
  return () => kept;
}

/** null: none, or none that is an outcome. */
async function readOutcome(directory: string): Promise<RunOutcome | null> {
  return parseRunOutcome(await readFile(join(directory, TERMINATION), 'utf8').catch(() => ''));
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

/** SIGABRT is what Node ends with when its heap is full; the kernel's own kill is a SIGKILL that it counts. */
function isOutOfMemory({ code, signal }: Exit, kernelKilled: boolean): boolean {
  return signal === 'SIGABRT' || code === 134 || (signal === 'SIGKILL' && kernelKilled);
}

/** Processes that the kernel has killed for memory since the machine started; 0 where it does not say. */
async function oomKills(): Promise<number> {
  const statistics = await readFile('/proc/vmstat', 'utf8').catch(() => '');
  return Number(/^oom_kill (\d+)$/m.exec(statistics)?.[1] ?? 0);
}

function killGroup(child: ChildProcess): void {
  if (child.pid !== undefined) kill(-child.pid);
}
