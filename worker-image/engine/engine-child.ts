/**
 * The owner's side of one engine process.
 *
 *   starting → idle ⇄ working → ended
 *
 * A file that makes it crash is refused; an abort lets it end its tools for a second, then it is killed
 * with all that it started.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { getCompileCacheDir } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import type { Kind } from '#crds/formats.ts';
import { MediaError } from '#crds/media-error.ts';
import { OWN_MEMORY, TELL_GROUPS, WARM, type FromChild, type ToChild } from '#worker-image/engine/child-messages.ts';
import type { FileTask, ProcessedFile } from '#worker-image/engine/process-file.ts';
import { MissingTool, toolPath } from '#worker-image/tools/find-tool.ts';
import type { Isolation } from '#worker-image/tools/isolation.ts';

export interface EngineChild {
  readonly pid: number;
  /** Resolves when the process is gone. */
  readonly ended: Promise<void>;
  /** Files that it has worked on. */
  readonly files: () => number;
  /** Resident memory in bytes, as it was after the last file. */
  readonly rssBytes: () => number;
  /** Its tools left files in memory, where the next file's tools would find them. */
  readonly leftFiles: () => boolean;
  /** Tells it what kind of file is on its way, so that it loads the kind's code meanwhile. */
  expect(kind: Kind): void;
  /**
   * Works on one file; one at a time.
   * @throws MediaError for a refused file, processing_failed when the file made it crash; the signal's
   * reason on abort, once nothing runs any more; EngineKilled when the system killed it.
   */
  process(input: ChildInput): Promise<ProcessedFile>;
  /** Ends it with everything that it started. */
  kill(): Promise<void>;
}

export interface ChildInput {
  readonly task: FileTask;
  readonly versions: Readonly<Record<string, string>>;
  readonly onProgress: (percent: number) => void;
  readonly signal: AbortSignal;
}

/** The system killed the process or a tool of it, normally for want of memory: not proven to be the file's fault. */
export class EngineKilled extends Error {
  override readonly name = 'EngineKilled';
}

const SCRIPT = join(import.meta.dirname, 'child.ts');
/** Ceiling of the JavaScript heap. What libraries take outside of it is bounded by the container. */
const HEAP_MIB = 1024;
/** Room for young objects. Left alone it grows until a table that streams through takes twice the memory. */
const YOUNG_MIB = 8;
const ABORT_GRACE_MS = 1000;
/**
 * How glibc keeps memory (mallopt(3)). With a heap for each thread, which none gives back, a process held three times
 * as much after some pictures. A picture's buffers stay with the process: given back, they are cleared by the system
 * for each next step, a quarter of what decoding an AVIF takes. Larger ones do go back.
 */
const ALLOCATOR = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: String(128 * 1024 ** 2),
  MALLOC_TRIM_THRESHOLD_: String(256 * 1024 ** 2),
};

/** Starts an engine process at home in a private directory: no environment of ours, and behind all the walls that the machine allows. */
export function startEngineChild(isolation: Isolation, directory: string): EngineChild {
  const child = fork(SCRIPT, argumentsFor(isolation), forkOptions(isolation, directory));
  if (child.pid === undefined)
    throw new MissingTool(`An engine process cannot be started: ${child.spawnfile} is not installed on this machine.`);
  const { pid } = child;
  const groups = new Set<number>();
  const state = { files: 0, rssBytes: 0, leftFiles: false };
  child.on('message', (message: FromChild) => {
    if (message.type === 'group' && message.alive) groups.add(message.pid);
    if (message.type === 'group' && !message.alive) groups.delete(message.pid);
    if (message.type === 'done' || message.type === 'refused') state.rssBytes = message.rssBytes;
    if (message.type === 'done') state.leftFiles ||= message.leftFiles;
  });
  // A message to a process that has just died fails; its end is told by 'exit'.
  child.on('error', () => undefined);
  // Not by `once`, which would fail with the error of such a message.
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      killGroups(groups);
      resolve();
    });
  });
  const kill = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) killGroup(pid);
    await ended;
  };
  return {
    pid,
    ended,
    files: () => state.files,
    rssBytes: () => state.rssBytes,
    leftFiles: () => state.leftFiles,
    kill,
    expect: (kind) => {
      if (child.connected) child.send({ type: 'expect', kind } satisfies ToChild);
    },
    process: async (input) => {
      state.files += 1;
      return work(child, input, { kill, ended });
    },
  };
}

/**
 * Compiles every module of an engine process into the compile cache, where the process has one, so that
 * later ones start in a third of the time and with 35 MB less. Engine processes themselves never write
 * there: they are killed, not ended, after strangers' bytes.
 */
export async function warmCompileCache(): Promise<void> {
  const env = environment();
  if (env.NODE_COMPILE_CACHE === undefined) return;
  await once(fork(SCRIPT, [WARM], { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }), 'exit');
}

function argumentsFor({ ownsProcesses, seesOnlyHome }: Isolation): string[] {
  return [...(ownsProcesses ? [] : [TELL_GROUPS]), ...(seesOnlyHome ? [OWN_MEMORY] : [])];
}

function forkOptions(isolation: Isolation, directory: string): NonNullable<Parameters<typeof fork>[2]> {
  // Dies with its owner, whatever kills that.
  const line = [
    'setpriv',
    '--pdeathsig',
    'KILL',
    ...isolation.child(directory),
    process.execPath,
    `--max-old-space-size=${HEAP_MIB}`,
    `--max-semi-space-size=${YOUNG_MIB}`,
  ];
  return {
    execPath: line[0] ?? process.execPath,
    execArgv: line.slice(1),
    cwd: directory,
    env: { ...environment(), HOME: directory, TMPDIR: directory },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    detached: true,
  };
}

/** The cache's folder, not the one of this version of Node inside it, is what a process is told. */
function environment(): Record<string, string> {
  const cache = getCompileCacheDir();
  const compiled = cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) };
  return { PATH: toolPath(), LANG: 'C.UTF-8', ...ALLOCATOR, ...compiled };
}

async function work(
  child: ChildProcess,
  input: ChildInput,
  own: { kill: () => Promise<void>; ended: Promise<void> },
): Promise<ProcessedFile> {
  const { signal, onProgress, task, versions } = input;
  signal.throwIfAborted();
  const answer = answerOf(child, onProgress);
  const aborted = once(signal, 'abort').then(() => 'aborted' as const);
  child.send({ type: 'process', task, versions } satisfies ToChild);
  const first = await Promise.race([answer, aborted]);
  if (first !== 'aborted') return first;
  if (child.connected) child.send({ type: 'abort' } satisfies ToChild);
  const patience = setTimeout(() => void own.kill(), ABORT_GRACE_MS);
  await answer.catch(() => undefined);
  clearTimeout(patience);
  await own.kill();
  throw signal.reason;
}

function answerOf(child: ChildProcess, onProgress: (percent: number) => void): Promise<ProcessedFile> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null, signal: NodeJS.Signals | null): void =>
      settle(() => reject(crash(code, signal)));
    const onMessage = (message: FromChild): void => {
      if (message.type === 'progress') onProgress(message.percent);
      if (message.type === 'done') settle(() => resolve(message.file));
      if (message.type === 'refused') settle(() => reject(refused(message)));
      if (message.type === 'killed') settle(() => reject(new EngineKilled(message.message)));
      if (message.type === 'bug') settle(() => reject(new Error(`bug in an engine process: ${message.stack}`)));
    };
    const settle = (then: () => void): void => {
      child.off('message', onMessage);
      child.off('exit', onExit);
      then();
    };
    child.on('message', onMessage);
    child.once('exit', onExit);
    if (child.exitCode !== null || child.signalCode !== null) onExit(child.exitCode, child.signalCode);
  });
}

function refused({ code, message, param, cause }: Extract<FromChild, { type: 'refused' }>): MediaError {
  return new MediaError(code, message, {
    ...(param === null ? {} : { param }),
    ...(cause === null ? {} : { cause: new Error(cause) }),
  });
}

/**
 * Only a fault of its own, such as SIGSEGV, is put down to the file. What stands before the process may
 * turn a signal n into exit code 128 + n; unshare of util-linux 2.38 makes exit code 1 of a SIGKILL.
 */
function crash(code: number | null, signal: NodeJS.Signals | null): Error {
  const number = signal === null ? (code ?? 0) - 128 : constants.signals[signal];
  const end = signal ?? `exit code ${code}`;
  if (number <= 0 || number === constants.signals.SIGKILL)
    return new EngineKilled(`the system ended the engine process (${end}), probably for want of memory`);
  const cause = new Error(`the engine process ended with ${end}`);
  return new MediaError('processing_failed', 'The file made the engine crash: it is damaged or built to do so.', {
    cause,
  });
}

function killGroups(groups: ReadonlySet<number>): void {
  for (const pid of groups) killGroup(pid);
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group ended by itself meanwhile.
  }
}
