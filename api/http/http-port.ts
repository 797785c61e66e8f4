import type { Dependencies } from '#api/dependencies.ts';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Peppers } from '#api/accounts/api-key.ts';
import { noteExposedKey } from '#api/accounts/find-caller.ts';
import { closeIdleConnections, CONNECTION_TIMEOUTS, type ConnectionTimeouts } from '#api/http/connection-timeouts.ts';
import { API_VERSION } from '#api/interface-version.ts';
import type { ApiMetrics } from '#api/http/metrics.ts';
import { handleConnectAndExpect, plainHttpError, refuseMalformed } from '#api/http/refuse-malformed.ts';
import { refusal } from '#api/http/refusal.ts';
import { cameOverHttps } from '#api/http/request-address.ts';
import type { Queryable } from '#api/store/database.ts';

interface HttpPortDeps extends Pick<Dependencies, 'clock' | 'newId' | 'log' | 'docsUrl'> {
  readonly database: Queryable;
  readonly metrics: Pick<ApiMetrics, 'connectionsClosed'>;
  readonly peppers: Peppers;
  readonly trustedProxies: readonly string[];
  /** Router of the HTTPS server, for requests that a trusted proxy received over HTTPS. */
  readonly serveHttps: RequestListener;
}

/**
 * Returns the plain http server. It refuses every request that did not reach a trusted proxy over HTTPS, and marks a
 * key sent to it as exposed (docs/reference/errors.md#https_required).
 */
export function makeHttpPort(
  deps: HttpPortDeps,
  { headersTimeout, connectionsCheckingInterval }: ConnectionTimeouts = CONNECTION_TIMEOUTS,
): Server {
  // A body forwarded by a proxy may take long: `withMinimumPace` limits it instead.
  const timeouts = { headersTimeout, connectionsCheckingInterval, requestTimeout: 0 };
  const server = createServer({ ...timeouts, requireHostHeader: false }, (request, response) => {
    const proto = request.headers['x-forwarded-proto'];
    const hop = {
      peer: request.socket.remoteAddress ?? '',
      forwardedFor: undefined,
      forwardedProto: Array.isArray(proto) ? proto.join(',') : proto,
    };
    if (cameOverHttps(deps.trustedProxies, hop)) deps.serveHttps(request, response);
    else refusePlainHttp(deps, request, response);
  });
  server.on('clientError', (error, socket) => refuseMalformed(deps, error, socket));
  handleConnectAndExpect(deps, server);
  closeIdleConnections(deps.metrics, server);
  return server;
}

function refusePlainHttp(deps: HttpPortDeps, request: IncomingMessage, response: ServerResponse): void {
  const requestId = deps.newId('request');
  const { status, body } = refusal(deps, { error: plainHttpError(), requestId });
  response
    .writeHead(status, {
      'Content-Type': 'application/json; charset=utf-8',
      'Svc-Request-Id': requestId,
      'Svc-Version': API_VERSION,
      Connection: 'close',
    })
    .end(JSON.stringify(body));
  request.resume();
  noteExposedKey(deps, request.headers.authorization).catch((error: unknown) => {
    deps.log.warn({ err: error, request_id: requestId }, 'recording an exposed key failed');
  });
}
