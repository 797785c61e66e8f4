import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';

interface OpsServerDeps {
  readonly metrics: Registry;
  /** null when ready; otherwise one sentence that says what is missing. */
  readonly notReady: () => Promise<string | null> | string | null;
  /** null while it works; otherwise one sentence that says why a new start is needed. */
  readonly notAlive?: () => string | null;
}

/**
 * Serves `/metrics`, `/healthz` (the process answers), `/livez` (it does not hang) and `/readyz` (it can do its
 * work). Port 0 takes any free one.
 */
export async function startOpsServer(
  deps: OpsServerDeps,
  address: { host: string; port: number },
): Promise<{ port: number; close: () => Promise<void> }> {
  const server = createServer((request, response) => {
    void answer(deps, request.url ?? '/').then(
      ({ status, type, body }) => response.writeHead(status, { 'content-type': type }).end(body),
      (error: unknown) => response.writeHead(500, { 'content-type': 'text/plain' }).end(`${String(error)}\n`),
    );
  });
  await listen(server, address);
  return { port: (server.address() as AddressInfo).port, close: () => closeServer(server) };
}

async function answer(deps: OpsServerDeps, path: string): Promise<{ status: number; type: string; body: string }> {
  const text = (status: number, body: string) => ({ status, type: 'text/plain; charset=utf-8', body: `${body}\n` });
  if (path === '/metrics') return { status: 200, type: deps.metrics.contentType, body: await deps.metrics.metrics() };
  if (path === '/healthz') return text(200, 'ok');
  if (path === '/livez') {
    const hanging = deps.notAlive?.() ?? null;
    return hanging === null ? text(200, 'ok') : text(503, hanging);
  }
  if (path !== '/readyz') return text(404, 'not found: this port has /metrics, /healthz, /livez and /readyz');
  const missing = await deps.notReady();
  return missing === null ? text(200, 'ready') : text(503, missing);
}

export function listen(server: Server, address: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
