/** SSIMULACRA2 by the Rust implementation, built into the cache folder by cargo when it is not there. */
import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Returns the similarity of two images: 100 the same, 90 hardly distinguishable, 70 good, 50 medium, below 30 poor. */
export type Score = (reference: string, other: string) => Promise<number>;

const CRATE = 'ssimulacra2_rs';
export const METRIC_VERSION = '0.5.2';

const run = promisify(execFile);

/** Returns the score of two PNG files of the same size. */
export async function ssimulacra2(cache: string): Promise<Score> {
  const root = join(cache, 'tools');
  const tool = join(root, 'bin', CRATE);
  await access(tool).catch(() =>
    run('cargo', ['install', CRATE, '--version', METRIC_VERSION, '--no-default-features', '--root', root]),
  );
  return async (reference, other) => {
    const { stdout } = await run(tool, ['image', reference, other]);
    const score = /^Score: (-?[\d.]+)/m.exec(stdout)?.[1];
    if (score === undefined) throw new Error(`${CRATE} printed no score: ${stdout}`);
    return Number(score);
  };
}
