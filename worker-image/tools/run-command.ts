/**
 * Starts every tool: in its own process group, in the task's private directory, with a minimal environment and resource
 * limits. The tool has the isolation of the process that starts it.
 *
 *   started ─→ ended by itself            → CommandResult
 *      ├─ time limit, or CPU limit (152)  → group killed → MediaError timeout
 *      ├─ killed by another process (137) → ToolKilled
 *      └─ signal aborted                  → group killed → the signal's reason
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { availableParallelism, constants, totalmem } from 'node:os';
import { Readable, type Writable } from 'node:stream';
import { MediaError } from '#crds/contract/media-error.ts';
import { killGroup } from '#crds/process/process-tree.ts';
import { findTool, toolPath } from '#worker-image/tools/find-tool.ts';

export interface Command {
  /** Name of the tool, searched in PATH. */
  readonly file: string;
  /** Full path of the program to start, when the file in PATH is only a script that starts it. */
  readonly program?: string;
  readonly args: readonly string[];
  /** Private directory: working directory, HOME and TMPDIR of the tool. */
  readonly directory: string;
  readonly signal: AbortSignal;
  /** Maximum wall-clock time. */
  readonly timeoutSeconds: number;
  /** Variables added to the minimal environment (PATH, HOME, TMPDIR, LANG). */
  readonly env?: Readonly<Record<string, string>>;
  /** Called with each line of standard output. */
  readonly onLine?: (line: string) => void;
  /** Maximum size of each file that the tool writes (RLIMIT_FSIZE). */
  readonly maxFileBytes?: number;
  /**
   * Text of standard input, for a tool that is started before; the time limit begins when it resolves. With a stream the
   * tool serves requests and has no time limit: who sends a request limits its time.
   */
  readonly input?: Promise<string> | Readable;
  /** Open file that the tool inherits as `INHERITED_DESCRIPTOR`. */
  readonly inherited?: number | null;
}

export interface ToolResult {
  /** Exit code; 128 + n for signal n. */
  readonly exitCode: number;
  /** First 64 KiB of each stream. */
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a tool to its end. Does not throw for a non-zero exit code: these are unreliable, callers check the output. */
export type RunCommand = (command: Command) => Promise<ToolResult>;

export interface RunCommandDeps {
  /** Called at start and end of each process group, so that a supervisor can end it when this process dies. */
  readonly onGroup?: (pid: number, alive: boolean) => void;
}

/** Another process killed the tool, normally the system for lack of memory: the file may not be the cause. */
export class ToolKilled extends Error {
  override readonly name = 'ToolKilled';
}

/** Number above the descriptors that our processes start with. */
export const INHERITED_DESCRIPTOR = 9;
type StdioEntry = 'ignore' | 'inherit' | 'pipe' | 'ipc' | number;

const KEPT_BYTES = 64 * 1024;
const MAX_FILE_BYTES = 16 * 1024 ** 3;
/** Share of the memory that a tool may use; the rest is for this process and the system. */
const MEMORY_SHARE = 0.75;
const MAX_MEMORY_BYTES = Math.floor(MEMORY_SHARE * Math.min(process.constrainedMemory() || Infinity, totalmem()));
const XCPU_EXIT = 128 + constants.signals.SIGXCPU;
const KILLED_EXIT = 128 + constants.signals.SIGKILL;

/**
 * Returns the function that starts tools. It throws MediaError timeout at the time limit, the signal's reason on abort,
 * ToolKilled when another process killed the tool, and MissingTool when the machine lacks it.
 */
export function makeRunCommand(deps: RunCommandDeps = {}): RunCommand {
  return async (command) => {
    const tool = command.program ?? (await findTool(command.file));
    command.signal.throwIfAborted();
    const line = ['--pdeathsig', 'KILL', 'prlimit', ...limits(command), '--', tool, ...command.args];
    const child = spawn('setpriv', line, {
      cwd: command.directory,
      env: environment(command),
      detached: true,
      stdio: withInherited(
        [command.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
        command.inherited ?? null,
      ),
    });
    if (child.pid !== undefined) deps.onGroup?.(child.pid, true);
    try {
      return await finish(child, command);
    } finally {
      if (child.pid !== undefined) deps.onGroup?.(child.pid, false);
    }
  };
}

/** Returns the standard streams with one more open file at `INHERITED_DESCRIPTOR`; null: none. */
export function withInherited(streams: readonly StdioEntry[], inherited: number | null): StdioEntry[] {
  if (inherited === null) return [...streams];
  const unused = Array.from({ length: INHERITED_DESCRIPTOR - streams.length }, () => 'ignore' as const);
  return [...streams, ...unused, inherited];
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
 * Returns the options of prlimit. Memory is limited by RLIMIT_DATA, so that a tool fails before the machine runs out.
 * Never by RLIMIT_AS: several tools reserve far more address space than they use.
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

async function finish(child: ChildProcess, command: Command): Promise<ToolResult> {
  /** Infinity while there is no time limit. */
  let startedAt = Infinity;
  let timer: NodeJS.Timeout | undefined;
  const startTimer = (): void => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    startedAt = performance.now();
    timer = setTimeout(() => killGroupOf(child), command.timeoutSeconds * 1000);
  };
  if (command.input === undefined) startTimer();
  else if (command.input instanceof Readable) sendRequests(child.stdin, command.input);
  else sendInput(child.stdin, command.input, startTimer);
  const onAbort = (): void => killGroupOf(child);
  command.signal.addEventListener('abort', onAbort, { once: true });
  const stdout = keep(child.stdout, command.onLine);
  const stderr = keep(child.stderr);
  try {
    const exitCode = await exitOf(child);
    command.signal.throwIfAborted();
    const isTimedOut = exitCode === KILLED_EXIT && performance.now() - startedAt >= command.timeoutSeconds * 1000 - 5;
    if (isTimedOut) throw timeLimit(command.timeoutSeconds);
    refuseKilled(exitCode, command);
    return { exitCode, stdout: stdout(), stderr: stderr() };
  } finally {
    clearTimeout(timer);
    command.signal.removeEventListener('abort', onAbort);
  }
}

/** Writes the text to the tool when it resolves. A tool that has ended reads nothing, which is no error. */
function sendInput(stdin: Writable | null, input: Promise<string>, onSend: () => void): void {
  stdin?.on('error', () => undefined);
  const send = (text: string): void => {
    onSend();
    stdin?.end(text);
  };
  input.then(send, () => stdin?.end());
}

function sendRequests(stdin: Writable | null, requests: Readable): void {
  stdin?.on('error', () => undefined);
  if (stdin !== null) requests.pipe(stdin);
}

/** @throws MediaError timeout for the exit code of the CPU limit, ToolKilled for that of a kill. */
export function refuseKilled(exitCode: number, command: Pick<Command, 'file' | 'timeoutSeconds'>): void {
  if (exitCode === XCPU_EXIT) throw timeLimit(command.timeoutSeconds);
  if (exitCode === KILLED_EXIT) throw new ToolKilled(`the system killed ${command.file}, probably for lack of memory`);
}

/** Returns the error for a tool that reached its time limit. */
export function timeLimit(seconds: number): MediaError {
  return new MediaError(
    'timeout',
    `A processing step took longer than its limit of ${seconds} seconds. Send a smaller file or choose options that need less time.`,
  );
}

/**
 * Resolves with the exit code when the tool has ended and its pipes are closed. Its remaining descendants are killed
 * before, as they would hold the pipes open.
 */
function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => killGroupOf(child));
    child.once('close', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
  });
}

function killGroupOf({ pid }: ChildProcess): void {
  if (pid !== undefined) killGroup(pid);
}

/** Reads a pipe to its end, keeps its first 64 KiB and calls `onLine` with each line. */
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
