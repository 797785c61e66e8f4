/** One process of ours: forked with exactly its environment, ready when it says so, ended as a tree. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { killTree } from '#api/embedded/kill-tree.ts';
import type { LogFile } from '#api/embedded/log-file.ts';
import { problemOf } from '#api/embedded/problem.ts';
import { StartError } from '#api/embedded/start-error.ts';
import type { Running } from '#api/embedded/supervise.ts';
import { isReadyMessage } from '#crds/shared/ready.ts';

interface NodeProcess {
  readonly name: string;
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
  readonly log: LogFile;
  /** Called with each of its errors, in one sentence. */
  readonly report: (sentence: string) => void;
  /** Ends a start that is under way. */
  readonly signal: AbortSignal;
}

/**
 * A small young generation: Node's own choice keeps up to 32 MB in each process after some load, for which
 * these processes, which mostly pass bytes on, are not measurably faster.
 */
const NODE_FLAGS = ['--max-semi-space-size=2'];
const READY_MS = 60_000;
const STOP_GRACE_MS = 10_000;
/** For reading what a dead process wrote. */
const LAST_WORDS_MS = 500;

/** @throws StartError when it ends before it is ready, with its last error, or is not ready after a minute. */
export async function startNodeProcess(input: NodeProcess): Promise<Running> {
  const { name, script, env, signal } = input;
  signal.throwIfAborted();
  // Its own group: Ctrl-C reaches the whole terminal group, but the supervisor alone decides who stops when.
  const child = fork(script, [], {
    execArgv: NODE_FLAGS,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code, by]) =>
    code === null ? `signal ${String(by)}` : `exit code ${String(code)}`,
  );
  const lastProblem = keepLog(child, input);
  const running = { pid: child.pid as number, ended, stop: () => stopChild(child, ended) };
  const abort = (): void => void running.stop();
  signal.addEventListener('abort', abort, { once: true });
  const late = setTimeout(() => killTree(running.pid), READY_MS);
  const end = await Promise.race([untilReady(child), ended]);
  clearTimeout(late);
  signal.removeEventListener('abort', abort);
  if (end !== null) await Promise.race([once(child, 'close'), delay(LAST_WORDS_MS)]);
  if (end !== null)
    throw new StartError(`The process ${name} did not start (${end}): ${lastProblem() ?? 'it gave no reason'}`);
  return running;
}

/** Gives a function that tells the last problem that the process wrote. */
function keepLog(child: ChildProcess, { log, report, name }: NodeProcess): () => string | null {
  let last: string | null = null;
  const onLine = (line: string, problem: string | null): void => {
    log.write(line);
    if (problem === null) return;
    // Of a stack trace, the line with the message says most.
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
