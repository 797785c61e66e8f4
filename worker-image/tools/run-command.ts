/**
 * The only place that starts a tool. Each one runs in a process group of its own, in the work's private
 * directory, with a minimal environment, resource limits and, where the machine allows it, no network.
 *
 *   started ─→ ended by itself            → CommandResult
 *      ├─ time limit, or CPU limit (152)  → group killed → MediaError timeout
 *      ├─ killed by somebody else (137)   → ToolKilled
 *      └─ signal aborted                  → group killed → the signal's reason
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { availableParallelism, constants, totalmem } from 'node:os';
import type { Readable } from 'node:stream';
import { MediaError } from '#crds/media-error.ts';
import { findTool, toolPath } from '#worker-image/tools/find-tool.ts';

export interface Command {
  /** The tool's name, looked for in PATH. */
  readonly file: string;
  /** Full path of the program to start, where what stands in PATH under the name is only a script that starts it. */
  readonly program?: string;
  readonly args: readonly string[];
  /** Private directory: working directory, HOME and TMPDIR of the tool. */
  readonly directory: string;
  readonly signal: AbortSignal;
  /** Wall clock. */
  readonly timeoutSeconds: number;
  /** Added to the minimal environment (PATH, HOME, TMPDIR, LANG). */
  readonly env?: Readonly<Record<string, string>>;
  /** Called with each line of standard output. */
  readonly onLine?: (line: string) => void;
  /** Cap of any file that the tool writes (RLIMIT_FSIZE). */
  readonly maxFileBytes?: number;
}

export interface CommandResult {
  /** Exit code; a signal n reads as 128 + n. */
  readonly exitCode: number;
  /** The first 64 KiB each. */
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a tool to its end. Does not throw for a non-zero exit code: exit codes lie, the caller looks at the output. */
export type RunCommand = (command: Command) => Promise<CommandResult>;

export interface RunCommandDeps {
  /** Command line put before every tool, such as `unshare --net --`; see `probeIsolation`. */
  readonly isolation?: readonly string[];
  /** Told of each process group that begins and ends, so that a supervisor can end it when this process dies. */
  readonly onGroup?: (pid: number, alive: boolean) => void;
}

/** Somebody else killed the tool, normally the system for want of memory: not proven to be the file's fault. */
export class ToolKilled extends Error {
  override readonly name = 'ToolKilled';
}

const KEPT_BYTES = 64 * 1024;
const MAX_FILE_BYTES = 16 * 1024 ** 3;
/** The rest is for this process and the system. */
const MEMORY_SHARE = 0.75;
const MAX_MEMORY_BYTES = Math.floor(MEMORY_SHARE * Math.min(process.constrainedMemory() || Infinity, totalmem()));
const XCPU_EXIT = 128 + constants.signals.SIGXCPU;
const KILLED_EXIT = 128 + constants.signals.SIGKILL;

/**
 * Gives the function that starts tools.
 * It throws MediaError timeout at the time limit, the signal's reason on abort, ToolKilled when somebody
 * else killed the tool, and MissingTool when the machine lacks it.
 */
export function makeRunCommand(deps: RunCommandDeps = {}): RunCommand {
  return async (command) => {
    command.signal.throwIfAborted();
    const tool = command.program ?? (await findTool(command.file));
    const line = [
      ...(deps.isolation ?? []),
      'setpriv',
      '--pdeathsig',
      'KILL',
      'prlimit',
      ...limits(command),
      '--',
      tool,
      ...command.args,
    ];
    const child = spawn(line[0] ?? tool, line.slice(1), {
      cwd: command.directory,
      env: environment(command),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    if (child.pid !== undefined) deps.onGroup?.(child.pid, true);
    try {
      return await finish(child, command);
    } finally {
      if (child.pid !== undefined) deps.onGroup?.(child.pid, false);
    }
  };
}

function environment(command: Command): Record<string, string> {
  return {
    PATH: toolPath(),
    HOME: command.directory,
    TMPDIR: command.directory,
    LANG: 'C.UTF-8',
    ...command.env,
  };
}

/**
 * Memory is limited by what a tool writes to (RLIMIT_DATA), so that it fails rather than the machine runs
 * out. Never RLIMIT_AS: several tools reserve far more address space than they use.
 */
function limits(command: Command): string[] {
  const cpuSeconds = Math.ceil(command.timeoutSeconds) * availableParallelism() + 1;
  const list = [
    `--cpu=${cpuSeconds}`,
    `--fsize=${command.maxFileBytes ?? MAX_FILE_BYTES}`,
    `--data=${MAX_MEMORY_BYTES}`,
    '--nofile=1024',
    '--core=0',
  ];
  // Root is exempt from the process limit; for others it counts every thread of the user on the machine.
  return process.getuid?.() === 0 ? list : [...list, '--nproc=4096'];
}

async function finish(child: ChildProcess, command: Command): Promise<CommandResult> {
  const timer = setTimeout(() => killGroup(child), command.timeoutSeconds * 1000);
  const startedAt = performance.now();
  const onAbort = (): void => killGroup(child);
  command.signal.addEventListener('abort', onAbort, { once: true });
  const stdout = keep(child.stdout, command.onLine);
  const stderr = keep(child.stderr);
  try {
    const exitCode = await exitOf(child);
    command.signal.throwIfAborted();
    const late = exitCode === KILLED_EXIT && performance.now() - startedAt >= command.timeoutSeconds * 1000 - 5;
    if (late || exitCode === XCPU_EXIT) throw timeLimit(command);
    if (exitCode === KILLED_EXIT)
      throw new ToolKilled(`the system killed ${command.file}, probably for want of memory`);
    return { exitCode, stdout: stdout(), stderr: stderr() };
  } finally {
    clearTimeout(timer);
    command.signal.removeEventListener('abort', onAbort);
  }
}

function timeLimit(command: Command): MediaError {
  return new MediaError(
    'timeout',
    `A step of the work took longer than its limit of ${command.timeoutSeconds} seconds. Send a smaller file or ask for less.`,
  );
}

/**
 * Ends with the group's first process, and with its pipes closed. What it left behind is killed
 * first, as it would hold the pipes open.
 */
function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => killGroup(child));
    child.once('close', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
  });
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Reads a pipe to its end, keeps the first 64 KiB of it and hands out whole lines. */
function keep(pipe: Readable | null, onLine?: (line: string) => void): () => string {
  let kept = '';
  let line = '';
  pipe?.setEncoding('utf8');
  pipe?.on('data', (text: string) => {
    kept += text.slice(0, KEPT_BYTES - kept.length);
    if (onLine === undefined) return;
    const lines = `${line}${text}`.split('\n');
    line = (lines.pop() ?? '').slice(0, KEPT_BYTES);
    lines.forEach(onLine);
  });
  pipe?.on('end', () => {
    if (line !== '') onLine?.(line);
  });
  return () => kept;
}
