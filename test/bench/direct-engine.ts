/** The engine of the direct lane as a process, and a caller of its port. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { engineRefusalSchema, fromHeader, REPORT_HEADER, toHeader, WORK_TRAILER } from '#crds/direct-work.ts';
import type { ErrorCode } from '#crds/error-codes.ts';
import type { Operation } from '#crds/formats.ts';
import { workerReportSchema, type WorkerReport } from '#crds/media-job.ts';
import { parseJsonOptions, resolveOptions, type SentOptions } from '#crds/options/options.ts';
import { fileLimits } from '#crds/plans.ts';
import { closeServer, listen } from '#crds/shared/ops-server.ts';

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

/** @param settings - Environment of the engine; the compile cache is in the folder. */
export async function startDirectEngine(folder: string, settings: Record<string, string> = {}): Promise<DirectEngine> {
  const [port, opsPort] = [await freePort(), await freePort()];
  const engine = fork(SCRIPT, [], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: folder,
      MEDIAJOBS_WORK_DIR: folder,
      MEDIAJOBS_LOG_LEVEL: 'error',
      MEDIAJOBS_ENGINE_PORT: String(port),
      MEDIAJOBS_OPS_PORT: String(opsPort),
      ...settings,
    },
  });
  await once(engine, 'message');
  const agent = new Agent({ keepAlive: true });
  return {
    pid: engine.pid ?? 0,
    process: (asked) => send({ agent, port }, asked),
    compress: async (file, options, tenant = 'bench') => {
      const report = await send({ agent, port }, { file, operation: 'compress', options, tenant });
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

async function send(to: { agent: Agent; port: number }, asked: DirectRequest): Promise<WorkerReport | ErrorCode> {
  const { file, operation, options, filename = null, tenant } = asked;
  const request = httpRequest({
    ...to,
    host: '127.0.0.1',
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

async function freePort(): Promise<number> {
  const server = createServer();
  await listen(server, { host: '127.0.0.1', port: 0 });
  const { port } = server.address() as AddressInfo;
  await closeServer(server);
  return port;
}
