/** The engine of the direct lane as a process, and a caller of its socket. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { CODE_CACHE } from '#api/embedded/code-cache.ts';
import { warmCodeCache } from '#api/embedded/warm-code-cache.ts';
import { engineRefusalSchema, fromHeader, REPORT_HEADER, toHeader, WORK_TRAILER } from '#crds/contract/direct-work.ts';
import type { ErrorCode } from '#crds/contract/error-codes.ts';
import type { Operation } from '#crds/catalogue/formats.ts';
import { workerReportSchema, type WorkerReport } from '#crds/contract/media-job.ts';
import { parseJsonOptions, resolveOptions, type SentOptions } from '#crds/catalogue/options/options.ts';
import { fileLimits } from '#crds/catalogue/plans.ts';

export interface DirectRequest {
  readonly file: Buffer;
  readonly operation: Operation;
  readonly options: SentOptions;
  readonly filename?: string;
  readonly tenant: string;
}

export interface DirectEngine {
  readonly pid: number;
  /** The report, or the refusal's code. @throws Error for a refusal that is not the file's: internal, engine_busy. */
  process(request: DirectRequest): Promise<WorkerReport | ErrorCode>;
  /** The file of one tenant among many. @throws Error when the engine refuses the file. */
  compress(file: Buffer, options: SentOptions, tenant?: string): Promise<WorkerReport>;
  stop(): Promise<void>;
}

const SCRIPT = new URL('../../worker-image/serve-direct.ts', import.meta.url).pathname;

/** @param settings - Environment of the engine; the sockets are in the folder. */
export async function startDirectEngine(folder: string, settings: Record<string, string> = {}): Promise<DirectEngine> {
  const socketPath = join(folder, 'engine');
  await warmCodeCache([SCRIPT]);
  const engine = fork(SCRIPT, [], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: CODE_CACHE,
      MEDIAJOBS_WORK_DIR: folder,
      MEDIAJOBS_LOG_LEVEL: 'error',
      MEDIAJOBS_ENGINE_SOCKET: socketPath,
      MEDIAJOBS_OPS_SOCKET: join(folder, 'ops'),
      ...settings,
    },
  });
  await once(engine, 'message');
  const agent = new Agent({ keepAlive: true });
  return {
    pid: engine.pid ?? 0,
    process: (work) => send({ agent, socketPath }, work),
    compress: async (file, options, tenant = 'bench') => {
      const report = await send({ agent, socketPath }, { file, operation: 'compress', options, tenant });
      if (typeof report === 'string') throw new Error(`the engine answered ${report}`);
      return report;
    },
    stop: async () => {
      agent.destroy();
      engine.kill('SIGTERM');
      await once(engine, 'exit');
    },
  };
}

const OWN_FAULTS: readonly ErrorCode[] = ['internal', 'engine_busy', 'timeout'];

async function send(to: { agent: Agent; socketPath: string }, order: DirectRequest): Promise<WorkerReport | ErrorCode> {
  const { file, operation, options, filename = null, tenant } = order;
  const request = httpRequest({
    ...to,
    path: '/process',
    method: 'POST',
    headers: { 'transfer-encoding': 'chunked', trailer: WORK_TRAILER },
  });
  const work = {
    operation,
    options: resolveOptions(parseJsonOptions(options)),
    limits: fileLimits('enterprise'),
    features: { video: false, heicOutput: true },
    filename,
    tenant,
  };
  request.write(file);
  request.addTrailers({ [WORK_TRAILER]: toHeader(work) });
  request.end();
  const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage];
  const body = await buffer(response);
  if (response.statusCode !== 200) {
    const { code, message } = engineRefusalSchema.parse(JSON.parse(body.toString()));
    if (OWN_FAULTS.includes(code)) throw new Error(`the engine answered ${code}: ${message}`);
    return code;
  }
  return workerReportSchema.parse(fromHeader(String(response.headers[REPORT_HEADER])));
}
