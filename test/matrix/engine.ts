/** The engine as in the direct lane and in job workers, a pool of engine processes, and its pipeline in this process. */
import { createWriteStream } from 'node:fs';
import { copyFile, link, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { extensionOf, type Operation } from '#crds/catalogue/formats.ts';
import { parseJsonOptions, resolveOptions, type SentOptions } from '#crds/catalogue/options/options.ts';
import { fileLimits } from '#crds/catalogue/plans.ts';
import { makeLog } from '#crds/process/log.ts';
import { ChildPool } from '#worker-image/sandbox/child-pool.ts';
import type { Lane } from '#crds/contract/work-rules.ts';
import { loadHandler, processFile, type FileTask, type ProcessedFile } from '#worker-image/engine/process-file.ts';
import { probeIsolation, type Isolation } from '#worker-image/tools/isolation.ts';
import { makeRunCommand } from '#worker-image/tools/run-command.ts';

export interface EngineRequest {
  readonly path: string;
  readonly filename: string;
  readonly operation: Operation;
  readonly options: SentOptions;
  readonly lane?: Lane;
}

export interface MatrixEngine {
  /** Processes a file. @throws MediaError for a file that is refused. */
  process(request: EngineRequest): Promise<ProcessedFile>;
  /** Processes a file in this process, which costs no engine process for a file that is refused. */
  processHere(request: EngineRequest): Promise<ProcessedFile>;
  /** Private directory for comparisons. */
  readonly directory: string;
  close(): Promise<void>;
}

const FILES_PER_CHILD = 200;
const QUEUE = 10_000;

/** Starts a pool. @param given Isolation; by default the best one of this machine. */
export async function startMatrixEngine(given?: Isolation): Promise<MatrixEngine> {
  const directory = await mkdtemp(join(tmpdir(), 'matrix-'));
  const pool = new ChildPool({
    log: makeLog('matrix', 'warn'),
    isolation: given ?? (await probeIsolation()),
    directory,
    children: availableParallelism() + 1,
    queue: QUEUE,
    extra: 0,
    filesPerChild: FILES_PER_CHILD,
  });
  const rest = { versions: {}, onProgress: () => {}, signal: new AbortController().signal };
  let files = 0;
  const taskOf = async ({ path, filename, operation, options, lane = 'job' }: EngineRequest): Promise<FileTask> => {
    const own = join(directory, `file-${(files += 1)}`);
    const input = join(own, 'input');
    await mkdir(own);
    await link(path, input).catch(() => copyFile(path, input));
    return {
      lane,
      operation,
      options: resolveOptions(parseJsonOptions(options)),
      limits: fileLimits('payg'),
      features: { video: true, heicOutput: true },
      path: input,
      filename,
      directory: own,
    };
  };
  return {
    directory,
    process: async (request) => {
      const task = await taskOf(request);
      const { output, report } = await pool.process({ ...rest, tenant: 'matrix', task });
      const made = `${task.directory}-output.${extensionOf(report.result.output_format)}`;
      await pipeline(output.createReadStream(), createWriteStream(made));
      return { path: made, report };
    },
    processHere: async (request) => processFile({ ...rest, loadHandler, run: makeRunCommand() }, await taskOf(request)),
    close: async () => {
      await pool.close();
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
