/** The engine as the direct lane and a job's worker use it: files go through a pool of engine processes. */
import { copyFile, link, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Operation } from '#crds/formats.ts';
import { parseJsonOptions, resolveOptions, type SentOptions } from '#crds/options/options.ts';
import { fileLimits } from '#crds/plans.ts';
import { startChildPool } from '#worker-image/engine/child-pool.ts';
import type { Lane } from '#worker-image/engine/guard.ts';
import type { ProcessedFile } from '#worker-image/engine/process-file.ts';
import { probeIsolation } from '#worker-image/tools/isolation.ts';

export interface AskedOfEngine {
  readonly path: string;
  readonly filename: string;
  readonly operation: Operation;
  readonly options: SentOptions;
  readonly lane?: Lane;
}

export interface MatrixEngine {
  /** @throws MediaError for a file that is refused. */
  process(asked: AskedOfEngine): Promise<ProcessedFile>;
  /** Private folder for whoever looks at results. */
  readonly directory: string;
  close(): Promise<void>;
}

const FILES_PER_CHILD = 200;
const QUEUE = 10_000;

export async function startMatrixEngine(): Promise<MatrixEngine> {
  const directory = await mkdtemp(join(tmpdir(), 'matrix-'));
  const pool = startChildPool({
    isolation: await probeIsolation(),
    directory,
    children: availableParallelism() + 1,
    queue: QUEUE,
    filesPerChild: FILES_PER_CHILD,
  });
  let files = 0;
  return {
    directory,
    process: async ({ path, filename, operation, options, lane = 'job' }) => {
      const own = join(directory, `file-${(files += 1)}`);
      const input = join(own, 'input');
      await mkdir(own);
      await link(path, input).catch(() => copyFile(path, input));
      const task = {
        lane,
        operation,
        options: resolveOptions(parseJsonOptions(options)),
        limits: fileLimits('payg'),
        features: { video: true, heicOutput: true },
        path: input,
        filename,
        directory: own,
      };
      return pool.process({
        tenant: 'matrix',
        task,
        versions: {},
        onProgress: () => {},
        signal: new AbortController().signal,
      });
    },
    close: async () => {
      await pool.close();
      await rm(directory, { recursive: true, maxRetries: 5 });
    },
  };
}
