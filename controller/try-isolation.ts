import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { LocalProcessOptions } from '#controller/spawn-worker.ts';

const TRIAL_TIMEOUT_MS = 120_000;

/**
 * Returns the isolation level that passes its trial on this machine, or `none`. `script` is
 * `worker-image/print-isolation.ts`. @throws Error when the trial cannot run.
 */
export async function tryIsolation(
  script: string,
  { path, compileCache, execPath = process.execPath }: Pick<LocalProcessOptions, 'path' | 'compileCache' | 'execPath'>,
): Promise<string> {
  const args = ['--pdeathsig', 'KILL', '--', execPath, script];
  const env = { PATH: path, ...(compileCache === undefined ? {} : { NODE_COMPILE_CACHE: compileCache }) };
  const { stdout } = await promisify(execFile)('setpriv', args, { env, timeout: TRIAL_TIMEOUT_MS });
  return stdout.trim();
}
