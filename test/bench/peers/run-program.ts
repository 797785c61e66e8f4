/** Runs a peer's program to its end. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { text } from 'node:stream/consumers';

interface Running {
  readonly env?: Readonly<Record<string, string>>;
  readonly onStart?: (pid: number) => void;
}

/** Runs a program and returns its duration in seconds. @throws Error with the end of what it said when it fails. */
export async function runProgram(
  file: string,
  args: readonly string[],
  { env = {}, onStart }: Running = {},
): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...env } });
  if (child.pid !== undefined) onStart?.(child.pid);
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit') as Promise<[number | null]>]);
  if (code !== 0) throw new Error(`${basename(file)} ended with ${String(code)}: ${said.trim().slice(-300)}`);
  return (performance.now() - startedAt) / 1000;
}
