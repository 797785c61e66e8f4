/** The whole service as one child process, for programs that need one: the demo and the tests. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { CODE_CACHE } from '#api/embedded/code-cache.ts';

interface ServiceInput {
  readonly data: string;
  /** Settings, added to this process's environment. */
  readonly settings?: Readonly<Record<string, string>>;
  /** What the operator would read: problems, one line each. */
  readonly onProblem: (line: string) => void;
}

export interface RunningService {
  readonly baseUrl: string;
  /** PEM of the authority that callers must trust. */
  readonly ca: string;
  readonly pid: number;
  /** Resolves with the exit code; null after a signal. */
  readonly ended: Promise<number | null>;
  /** Ends it cleanly. */
  stop(): Promise<void>;
}

const SCRIPT = fileURLToPath(new URL('../embedded.ts', import.meta.url));

/** Resolves when it serves, on free ports. @throws when it does not start; `onProblem` was told why. */
export async function runService({ data, settings = {}, onProblem }: ServiceInput): Promise<RunningService> {
  const readyFile = path.join(data, 'ready.json');
  const child = spawn(process.execPath, [SCRIPT, '--data', data, '--port', '0', '--ready', readyFile], {
    env: { NODE_COMPILE_CACHE: CODE_CACHE, ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  const problems: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (problems.length < 10) problems.push(line);
    onProblem(line);
  });
  // Its only line says that it serves.
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
