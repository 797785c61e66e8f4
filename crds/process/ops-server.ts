import { rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { Registry } from 'prom-client';
import type { Settings } from '#crds/process/settings.ts';

/**
 * Address of a server: a port, or a unix socket in a folder that only the server and its clients may enter. The socket
 * itself has no access restrictions.
 */
export type ListenAddress = { readonly host: string; readonly port: number } | { readonly socket: string };

interface OpsServerDeps {
  readonly metrics: Registry;
  /** Returns null when ready; otherwise one sentence about what is missing. */
  readonly notReady: () => Promise<string | null> | string | null;
  /** Sentence that operators have to know although the process is ready; null: none. */
  readonly warning?: string | null;
  /** Returns null while the process works; otherwise one sentence about why it must be restarted. */
  readonly notAlive?: () => string | null;
}

/**
 * Serves `/metrics`, `/healthz` (the process responds), `/livez` (it does not hang) and `/readyz` (it can do its work).
 * Port 0 selects any free port; the returned port is null for a socket.
 */
export async function startOpsServer(
  deps: OpsServerDeps,
  address: ListenAddress,
): Promise<{ port: number | null; close: () => Promise<void> }> {
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (request, response) => {
    void respond(deps, request.url ?? '/').then(
      ({ status, type, body }) => response.writeHead(status, { 'content-type': type }).end(body),
      (error: unknown) => response.writeHead(500, { 'content-type': 'text/plain' }).end(`${String(error)}\n`),
    );
  });
  await listen(server, address);
  return { port: portOf(server), close: () => closeServer(server) };
}

/** Returns the address of a process's ops server from its settings. */
export function opsAddress(
  config: Pick<Settings, 'MEDIAJOBS_OPS_SOCKET' | 'MEDIAJOBS_OPS_HOST' | 'MEDIAJOBS_OPS_PORT'>,
): ListenAddress {
  const socket = config.MEDIAJOBS_OPS_SOCKET;
  return socket === undefined ? { host: config.MEDIAJOBS_OPS_HOST, port: config.MEDIAJOBS_OPS_PORT } : { socket };
}

async function respond(deps: OpsServerDeps, path: string): Promise<{ status: number; type: string; body: string }> {
  const text = (status: number, body: string) => ({ status, type: 'text/plain; charset=utf-8', body: `${body}\n` });
  if (path === '/metrics') return { status: 200, type: deps.metrics.contentType, body: await deps.metrics.metrics() };
  if (path === '/healthz') return text(200, 'ok');
  if (path === '/livez') {
    const hanging = deps.notAlive?.() ?? null;
    return hanging === null ? text(200, 'ok') : text(503, hanging);
  }
  if (path !== '/readyz') return text(404, 'not found: this port has /metrics, /healthz, /livez and /readyz');
  const missing = await deps.notReady();
  return missing === null ? text(200, readyText(deps)) : text(503, missing);
}

function readyText({ warning = null }: Pick<OpsServerDeps, 'warning'>): string {
  return warning === null ? 'ready' : `ready; ${warning}`;
}

/** Binds the server. Replaces the socket of a killed process. */
export async function listen(server: Server, address: ListenAddress): Promise<void> {
  const isSocket = 'socket' in address;
  if (isSocket) await rm(address.socket, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(isSocket ? { path: address.socket, readableAll: true, writableAll: true } : address, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Returns the port that the server is bound to; null when it is bound to a socket. */
export function portOf(server: Server): number | null {
  const address = server.address();
  return address === null || typeof address === 'string' ? null : address.port;
}

/** Closes the server and all its connections at once. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
