/** A Node process of the service: started with exactly its environment, ready by its own message, killed with its descendants. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { killTree } from '#crds/process/process-tree.ts';
import type { LogFile } from '#api/embedded/log-file.ts';
import { problemOf } from '#api/embedded/problem.ts';
import { StartError } from '#api/embedded/start-error.ts';
import type { Running } from '#api/embedded/supervise.ts';
import { isReadyMessage } from '#crds/process/ready.ts';

interface NodeProcess {
  readonly name: string;
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
  /** Command line put before Node's own; it keeps the process id. */
  readonly identity: readonly string[];
  readonly log: LogFile;
  /** Called with each error that the process logs, in one sentence. */
  readonly report: (sentence: string) => void;
  /** Cancels the start. */
  readonly signal: AbortSignal;
}

/**
 * Small young generation. Node's default keeps up to 32 MB more in each process after some load, and these processes,
 * which mostly copy bytes, are not measurably faster with it.
 */
const NODE_FLAGS = ['--max-semi-space-size=2'];
const READY_MS = 60_000;
const STOP_GRACE_MS = 10_000;
/** Time to read the remaining output of a process that has ended, in milliseconds. */
const OUTPUT_GRACE_MS = 500;

/**
 * Starts the process and waits until it is ready.
 * @throws StartError with its last error when it cannot be started, ends before, or is not ready after a minute.
 */
export async function startNodeProcess(input: NodeProcess): Promise<Running> {
  const { name, script, env, identity, signal } = input;
  signal.throwIfAborted();
  // Its own process group: Ctrl-C would reach the whole terminal group, but the supervisor decides the order of the stop.
  const child = fork(script, [], {
    ...commandLine(identity),
    env,
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code, by]) =>
    code === null ? `signal ${String(by)}` : `exit code ${String(code)}`,
  );
  const { pid } = child;
  if (pid === undefined) throw new StartError(`The process ${name} did not start: ${await ended.catch(String)}`);
  const lastProblem = keepLog(child, input);
  const running = { pid, ended, stop: () => stopChild(child, ended) };
  const abort = (): void => void running.stop();
  signal.addEventListener('abort', abort, { once: true });
  const late = setTimeout(() => killTree(pid), READY_MS);
  let end: string | null;
  try {
    end = await Promise.race([untilReady(child), ended]);
  } finally {
    clearTimeout(late);
    signal.removeEventListener('abort', abort);
  }
  if (end !== null) await Promise.race([once(child, 'close'), delay(OUTPUT_GRACE_MS)]);
  if (end !== null)
    throw new StartError(`The process ${name} did not start (${end}): ${lastProblem() ?? 'it logged no error'}`);
  return running;
}

function commandLine(identity: readonly string[]): { execPath: string; execArgv: string[] } {
  const [execPath = process.execPath, ...execArgv] = [...identity, process.execPath, ...NODE_FLAGS];
  return { execPath, execArgv };
}

/** Copies the process's output to the log file. Returns a function that returns the last problem in it. */
function keepLog(child: ChildProcess, { log, report, name }: NodeProcess): () => string | null {
  let last: string | null = null;
  const onLine = (line: string, problem: string | null): void => {
    log.write(line);
    if (problem === null) return;
    // Of a stack trace, keep the line with the message.
    if (last === null || !last.includes('Error: ')) last = problem;
    report(`${name}: ${problem}`);
  };
  if (child.stdout !== null)
    createInterface({ input: child.stdout }).on('line', (line) => onLine(line, problemOf(line)));
  if (child.stderr !== null) createInterface({ input: child.stderr }).on('line', (line) => onLine(line, line));
  return () => last;
}

function untilReady(child: ChildProcess): Promise<null> {
  return new Promise((resolve) => {
    const onMessage = (message: unknown): void => {
      if (!isReadyMessage(message)) return;
      child.off('message', onMessage);
      resolve(null);
    };
    child.on('message', onMessage);
  });
}

async function stopChild(child: ChildProcess, ended: Promise<string>): Promise<void> {
  child.kill('SIGTERM');
  const kill = setTimeout(() => killTree(child.pid as number), STOP_GRACE_MS);
  await ended;
  clearTimeout(kill);
}
