/** The service on one machine as a child process, for the demo and the tests. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { CODE_CACHE } from '#api/embedded/code-cache.ts';

interface ServiceInput {
  readonly data: string;
  /** `api/embedded.ts`, by default that of this checkout. */
  readonly script?: string;
  /** Settings in addition to this process's environment. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Command line put before Node's own, such as `setpriv` with its options. */
  readonly prefix?: readonly string[];
  /** Stops the service when it aborts, also while it starts. */
  readonly signal?: AbortSignal;
  /** Called with each line that the operator would read on standard error. */
  readonly onProblem: (line: string) => void;
}

export interface RunningService {
  readonly baseUrl: string;
  /** PEM of the authority that callers must trust. */
  readonly ca: string;
  readonly pid: number;
  /** Resolves with the exit code; null after a signal. */
  readonly ended: Promise<number | null>;
  /** Stops it with SIGTERM and waits for its end. */
  stop(): Promise<void>;
}

const SCRIPT = fileURLToPath(new URL('../embedded.ts', import.meta.url));

/** Starts the service on free ports. Resolves when it serves. @throws Error with its first problems when it does not start. */
export async function runService({
  data,
  script = SCRIPT,
  settings = {},
  prefix = [],
  signal,
  onProblem,
}: ServiceInput): Promise<RunningService> {
  const readyFile = path.join(data, 'ready.json');
  const commandLine: readonly string[] = [...prefix, process.execPath, script];
  const [file = '', ...args] = commandLine;
  const child = spawn(file, [...args, '--data', data, '--port', '0', '--ready', readyFile], {
    env: { NODE_COMPILE_CACHE: CODE_CACHE, ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  signal?.addEventListener('abort', () => child.kill('SIGTERM'));
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  const problems: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (problems.length < 10) problems.push(line);
    onProblem(line);
  });
  // Its first line says that it serves.
  const serves = once(createInterface({ input: child.stdout }), 'line');
  await Promise.race([
    serves,
    ended.then((code) =>
      Promise.reject(new Error(`The service did not start (exit code ${String(code)}): ${problems.join(' ')}`)),
    ),
  ]);
  const ready = JSON.parse(readFileSync(readyFile, 'utf8')) as { base_url: string; ca_file: string };
  return {
    baseUrl: ready.base_url,
    ca: readFileSync(ready.ca_file, 'utf8'),
    pid: child.pid as number,
    ended,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
