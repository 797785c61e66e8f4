import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Peppers } from '#api/accounts/api-key.ts';
import { noteExposedKey } from '#api/accounts/find-caller.ts';
import { API_VERSION } from '#api/http/gates.ts';
import { answerOddRequests, plainHttp, refuseMalformed } from '#api/http/refuse-malformed.ts';
import { refusal } from '#api/http/refusal.ts';
import { cameOverHttps } from '#api/http/request-address.ts';
import type { Queryable } from '#api/store/database.ts';
import type { NewId } from '#crds/ids.ts';
import type { Clock } from '#crds/shared/clock.ts';
import type { Log } from '#crds/shared/log.ts';

interface HttpPortDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  readonly peppers: Peppers;
  readonly docsUrl: string;
  readonly trustedProxies: readonly string[];
  /** The HTTPS server's own routing, for what a trusted proxy took over HTTPS. */
  readonly serveHttps: RequestListener;
}

/** The plain http port: everything is refused, and a key that came this way is noted as exposed. Spec: https_required. */
export function makeHttpPort(deps: HttpPortDeps): Server {
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    const proto = request.headers['x-forwarded-proto'];
    const hop = {
      peer: request.socket.remoteAddress ?? '',
      forwardedFor: undefined,
      forwardedProto: Array.isArray(proto) ? proto.join(',') : proto,
    };
    if (cameOverHttps(deps.trustedProxies, hop)) deps.serveHttps(request, response);
    else refusePlain(deps, request, response);
  });
  server.on('clientError', (error, socket) => refuseMalformed(deps, error, socket));
  answerOddRequests(deps, server);
  return server;
}

function refusePlain(deps: HttpPortDeps, request: IncomingMessage, response: ServerResponse): void {
  const requestId = deps.newId('request');
  const { status, body } = refusal(deps, { error: plainHttp(), requestId });
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
    deps.log.warn({ err: error, request_id: requestId }, 'an exposed key was not noted');
  });
}
