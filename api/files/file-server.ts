/**
 * Internal HTTP server of the file store on disk: workers GET inputs and PUT outputs at signed URLs.
 * It uses plain HTTP on a unix socket that only the service can open. The signature of the URL grants access.
 *
 *   GET /files/<key>   200 with ETag, 404 not found, 412 `If-Match` differs, 403 invalid or expired signature
 *   PUT /files/<key>   200 with ETag, 411 without Content-Length, 413 too large, 403
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '#crds/process/clock.ts';
import type { Log } from '#crds/process/log.ts';
import { closeServer, listen, portOf, type ListenAddress } from '#crds/process/ops-server.ts';
import type { RingKey } from '#crds/process/ring-key.ts';
import { splitTarget, verifySignedUrl } from '#api/files/signed-url.ts';
import { keyOfPath } from './file-key.ts';
import type { FileStore } from './file-store.ts';

export interface FileServerDeps {
  readonly files: Pick<FileStore, 'get' | 'put'>;
  readonly linkKeys: readonly RingKey[];
  readonly clock: Clock;
  readonly log: Pick<Log, 'error'>;
  /** Maximum size of one PUT, in bytes. */
  readonly maxBytes: number;
}

const IDLE_MS = 120_000;

/** Starts the server. Port 0 selects a free port; on a unix socket the port is null. `close` also ends transfers. */
export async function startFileServer(
  deps: FileServerDeps,
  address: ListenAddress,
): Promise<{ port: number | null; close: () => Promise<void> }> {
  // No timeout of the whole request, because gigabytes may take long. Idle connections are closed instead.
  const server = createServer({ requestTimeout: 0, headersTimeout: 10_000 }, (request, response) => {
    serveFile(deps, request, response).catch((error: unknown) => fail(deps, { response, error }));
  });
  server.timeout = IDLE_MS;
  await listen(server, address);
  return { port: portOf(server), close: () => closeServer(server) };
}

async function serveFile(deps: FileServerDeps, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { path, query } = splitTarget(request.url ?? '');
  const key = keyOfPath(path);
  const signedRequest = { method: request.method ?? '', path, query, now: deps.clock.now() };
  const verdict = verifySignedUrl(deps.linkKeys, signedRequest);
  if (key === null || verdict !== 'valid') return refuse(response, 403, `the link is ${verdict}`);
  return request.method === 'PUT' ? receive(deps, { key, request, response }) : send(deps, { key, request, response });
}

interface ObjectRequest {
  readonly key: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

async function send(deps: FileServerDeps, { key, request, response }: ObjectRequest): Promise<void> {
  const found = await deps.files.get(key);
  if (found === null) return refuse(response, 404, 'there is no such object');
  const wanted = request.headers['if-match'];
  if (wanted !== undefined && wanted !== '*' && wanted !== found.etag) {
    found.body.destroy();
    return refuse(response, 412, `the object's ETag is ${found.etag}`);
  }
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': found.size,
    etag: found.etag,
  });
  await pipeline(found.body, response);
}

async function receive(deps: FileServerDeps, { key, request, response }: ObjectRequest): Promise<void> {
  const length = request.headers['content-length'];
  if (length === undefined) return refuse(response, 411, 'a PUT needs Content-Length');
  const size = Number(length);
  if (size > deps.maxBytes) return refuse(response, 413, `${size} bytes are over the limit of ${deps.maxBytes}`);
  const { etag } = await deps.files.put(key, request, { maxBytes: deps.maxBytes, size });
  response.writeHead(200, { etag, 'content-length': 0 }).end();
}

/** Sends a refusal and closes the connection, because the body of a refused PUT is not read. */
function refuse(response: ServerResponse, status: number, reason: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(`${reason}\n`);
}

function fail(deps: FileServerDeps, failure: { response: ServerResponse; error: unknown }): void {
  const { response, error } = failure;
  // A client that disconnected gets no response and is not logged as an error.
  if (isDisconnect(error)) return void response.destroy();
  deps.log.error({ err: error }, 'file server: a transfer failed');
  if (response.headersSent) response.destroy();
  else refuse(response, 500, 'the transfer failed');
}

function isDisconnect(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return code === 'ECONNRESET' || code === 'EPIPE' || code === 'ERR_STREAM_PREMATURE_CLOSE';
}
