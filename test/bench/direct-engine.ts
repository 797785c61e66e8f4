/** The engine of the direct lane as a process, and a caller of its port. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { fromHeader, REPORT_HEADER, toHeader, WORK_TRAILER } from '#crds/direct-work.ts';
import { workerReportSchema, type WorkerReport } from '#crds/media-job.ts';
import { parseJsonOptions, resolveOptions, type SentOptions } from '#crds/options/options.ts';
import { fileLimits } from '#crds/plans.ts';
import { closeServer, listen } from '#crds/shared/ops-server.ts';

export interface DirectEngine {
  readonly pid: number;
  /** @throws Error when the engine refuses the file. */
  compress(file: Buffer, options: SentOptions): Promise<WorkerReport>;
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
    compress: (file, options) => send({ agent, port }, file, options),
    stop: async () => {
      agent.destroy();
      engine.kill('SIGTERM');
      await once(engine, 'exit');
    },
  };
}

async function send(to: { agent: Agent; port: number }, file: Buffer, options: SentOptions): Promise<WorkerReport> {
  const request = httpRequest({
    ...to,
    host: '127.0.0.1',
    path: '/process',
    method: 'POST',
    headers: { 'transfer-encoding': 'chunked', trailer: WORK_TRAILER },
  });
  const work = {
    operation: 'compress',
    options: resolveOptions(parseJsonOptions(options)),
    limits: fileLimits('enterprise'),
    features: { video: false, heicOutput: true },
    filename: null,
  };
  request.write(file);
  request.addTrailers({ [WORK_TRAILER]: toHeader(work) });
  request.end();
  const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage];
  const body = await buffer(response);
  if (response.statusCode !== 200) throw new Error(`the engine answered ${response.statusCode}: ${body.toString()}`);
  return workerReportSchema.parse(fromHeader(String(response.headers[REPORT_HEADER])));
}

async function freePort(): Promise<number> {
  const server = createServer();
  await listen(server, { host: '127.0.0.1', port: 0 });
  const { port } = server.address() as AddressInfo;
  await closeServer(server);
  return port;
}
