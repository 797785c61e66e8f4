/**
 * Server of the attempts of a machine without Kubernetes. The controller connects from another process to a unix
 * socket, so that the attempts and the process that starts them run as another user than the process with database and
 * keys.
 *
 *   no controller ──connects──▶ connected ──connection ends──▶ stopping every run ──▶ no controller
 */
import { rmSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { Clock } from '#crds/process/clock.ts';
import type { Log } from '#crds/process/log.ts';
import { readJsonLines, writeJsonLine } from '#crds/process/message-lines.ts';
import { makeLocalRuns, type LocalRuns } from '#controller/local-runs.ts';
import type { WorkerProcessesOptions } from '#controller/worker-processes.ts';
import { REQUEST_BYTES, requestSchema, type RunsRequest } from '#controller/runs-messages.ts';

interface ServeRunsDeps {
  readonly clock: Clock;
  readonly log: Log;
}

/** Listens until `close`, which stops every run. The permissions of the socket's folder limit who may connect. */
export async function serveLocalRuns(
  deps: ServeRunsDeps,
  options: WorkerProcessesOptions,
  socketPath: string,
): Promise<{ close: () => Promise<void> }> {
  const connected = new Set<Socket>();
  /** Resolves when the runs of the previous controller have ended: controllers are served one at a time. */
  let served: Promise<void> = Promise.resolve();
  const server = createServer((socket) => {
    connected.add(socket);
    socket.once('close', () => connected.delete(socket));
    socket.on('error', (error) => deps.log.warn({ err: error }, 'connection to the controller failed'));
    served = served.then(() => serveController(deps, options, socket));
  });
  rmSync(socketPath, { force: true });
  server.listen(socketPath);
  await once(server, 'listening');
  await chmod(socketPath, 0o666);
  return {
    close: async () => {
      server.close();
      for (const socket of connected) socket.destroy();
      await served;
    },
  };
}

async function serveController(deps: ServeRunsDeps, options: WorkerProcessesOptions, socket: Socket): Promise<void> {
  if (socket.destroyed) return;
  const ended = once(socket, 'close').catch(() => undefined);
  try {
    const runs = await makeLocalRuns(deps, options);
    const watching = new AbortController();
    runs.watch((changed) => writeJsonLine(socket, { changed }), watching.signal);
    readJsonLines(socket, {
      maxBytes: REQUEST_BYTES,
      onMessage: (message) => void handleRequest(runs, socket, requestSchema.parse(message)),
    });
    await ended;
    watching.abort();
    await runs.close();
  } catch (error) {
    deps.log.error({ err: error }, 'runs not started or not stopped');
    socket.destroy();
  }
}

async function handleRequest(runs: LocalRuns, socket: Socket, request: RunsRequest): Promise<void> {
  const { id } = request;
  try {
    writeJsonLine(socket, { id, result: (await execute(runs, request)) ?? null });
  } catch (error) {
    writeJsonLine(socket, { id, error: error instanceof Error ? error.message : String(error) });
  }
}

function execute(runs: LocalRuns, request: RunsRequest): Promise<unknown> {
  switch (request.method) {
    case 'reserve':
      return runs.reserve(request.name, { account: request.account });
    case 'start':
      return runs.start(request);
    case 'observe':
      return runs.observe(request.name);
    case 'list':
      return runs.list();
    case 'stop':
      return runs.stop(request.name);
    case 'release':
      return runs.release(request.name);
    case 'close':
      return runs.close();
  }
}
