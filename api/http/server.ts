/** The HTTPS server, which parses no body: headers → ambiguous requests refused → path and method (404, 405) → gates → endpoint. */
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { ApiDeps } from '#api/http/api-deps.ts';
import type { ApiReply, ApiRequest, Endpoint } from '#api/http/endpoint.ts';
import { closeIdleConnections, CONNECTION_TIMEOUTS, type ConnectionTimeouts } from '#api/http/connection-timeouts.ts';
import { drainBody } from '#api/http/drain-body.ts';
import { passGates, refuseVersion, type GateContext } from '#api/http/gates.ts';
import { methodsOfPath, noEndpoint, pathOf } from '#api/http/request-path.ts';
import { refuseUnknownParameters } from '#api/fields/query.ts';
import { containsNul, nulCharacterError } from '#api/fields/nul-character.ts';
import { makeConnectionsPausable } from '#api/http/pausable-connections.ts';
import { HTTPS_ONLY } from '#api/http/https-only.ts';
import { refuseAmbiguous } from '#api/http/refuse-ambiguous.ts';
import { handleConnectAndExpect, refuseMalformed, refuseFailedHandshake } from '#api/http/refuse-malformed.ts';
import { FASTIFY_OPTIONS } from '#api/http/fastify-options.ts';
import { API_VERSION } from '#api/interface-version.ts';
import { sendRefusal } from '#api/http/refusal.ts';
import type { Certificate } from '#api/http/renew-certificate.ts';
import { traceRequest } from '#api/http/trace-request.ts';
import { clientAddress } from '#api/http/request-address.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { splitTarget } from '#api/files/signed-url.ts';

/** Returns the server with one route per endpoint; it does not listen yet. */
export function makeServer(
  deps: ApiDeps,
  endpoints: readonly Endpoint[],
  tls: Certificate,
  timeouts: ConnectionTimeouts = CONNECTION_TIMEOUTS,
): FastifyInstance {
  const server = Fastify({
    ...FASTIFY_OPTIONS,
    // Uploads may take long: `withMinimumPace` limits them instead.
    https: {
      ...tls,
      ...timeouts,
      requestTimeout: 0,
      requireHostHeader: false,
    },
    genReqId: () => deps.newId('request'),
    frameworkErrors: (_error, request, reply) => {
      setCommonHeaders(request, reply);
      reply.header('Connection', 'close');
      void sendRefusal(deps, reply, {
        error: new MediaError('bad_request', 'The address is malformed.'),
        requestId: request.id,
      });
    },
    clientErrorHandler: (error, socket) => refuseMalformed(deps, error, socket),
  });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, body, done) => done(null, body));
  server.addHook('onRequest', async (request, reply) => {
    setCommonHeaders(request, reply);
    refuseOrClose(request, reply);
  });
  handleConnectAndExpect(deps, server.server);
  refuseFailedHandshake(deps, server.server);
  makeConnectionsPausable(server.server);
  closeIdleConnections(deps.metrics, server.server);
  server.setNotFoundHandler((request, reply) => refuseUnknown(deps, endpoints, { request, reply }));
  server.setErrorHandler((error, request, reply) => sendRefusal(deps, reply, { error, requestId: request.id }));
  for (const endpoint of endpoints) {
    server.route({
      method: endpoint.method,
      url: endpoint.path,
      handler: (request, reply) =>
        isForEndpoint(endpoints, endpoint, request)
          ? serve(deps, endpoint, { request, reply })
          : refuseUnknown(deps, endpoints, { request, reply }),
    });
  }
  return server;
}

/** Returns false for `PATCH /v1/things/word` if `/v1/things/word` is a literal path: then `word` is not an id. */
function isForEndpoint(endpoints: readonly Endpoint[], { path }: Endpoint, request: FastifyRequest): boolean {
  return !path.includes(':') || endpoints.every((other) => other.path !== pathOf(request.url));
}

interface HttpExchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

interface TracedExchange extends HttpExchange {
  /** Context of the span of the request; null without tracing. */
  readonly traceparent: string | null;
}

/**
 * Sets the headers of every response. Moves the content type of the request to `x-sent-content-type`, so that Fastify
 * treats every body as raw bytes.
 */
function setCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers({
    'Svc-Request-Id': request.id,
    'Svc-Version': API_VERSION,
    'X-Content-Type-Options': 'nosniff',
    ...HTTPS_ONLY,
  });
  const { headers } = request.raw;
  headers['x-sent-content-type'] = headers['content-type'];
  headers['content-type'] = 'application/octet-stream';
}

/** Refuses an ambiguous request and closes its connection: the bytes that follow may belong to another request. */
function refuseOrClose(request: FastifyRequest, reply: FastifyReply): void {
  try {
    refuseAmbiguous(request.raw);
  } catch (error) {
    reply.header('Connection', 'close');
    throw error;
  }
}

async function serve(deps: ApiDeps, endpoint: Endpoint, { request, reply }: HttpExchange): Promise<FastifyReply> {
  const started = process.hrtime.bigint();
  const context = newGateContext(deps, endpoint, request);
  const traceparent = deps.tracing === null ? null : traceRequest(deps.tracing, endpoint, { request, reply });
  reply.raw.once('close', () => {
    void context.release();
    const seconds = Number(process.hrtime.bigint() - started) / 1e9;
    deps.metrics.requests.observe(
      { endpoint: endpoint.path, method: endpoint.method, status: reply.statusCode },
      seconds,
    );
  });
  try {
    const response = await replyOf(deps, context, { request, reply, traceparent });
    reply.code(response.status).headers({ ...context.rateHeaders, ...response.headers });
    return await sendBody(reply, response.body);
  } catch (error) {
    if (reply.raw.closed) return reply;
    reply.headers(await rateHeadersOf(deps, context));
    drainBody(request.raw);
    await sendRefusal(deps, reply, { error, requestId: request.id });
    return reply;
  }
}

/** Returns the `RateLimit-…` headers of a refusal. A direct request has them even if an earlier gate refused it. */
async function rateHeadersOf(
  { limits }: Pick<ApiDeps, 'limits'>,
  { endpoint, caller, rateHeaders }: GateContext,
): Promise<GateContext['rateHeaders']> {
  const isEarly = endpoint.lane === 'direct' && caller !== null && Object.keys(rateHeaders).length === 0;
  return isEarly ? limits.directHeaders(caller) : rateHeaders;
}

async function replyOf(deps: ApiDeps, context: GateContext, exchange: TracedExchange): Promise<ApiReply> {
  const { endpoint } = context;
  const request = () => readRequest(exchange);
  if (endpoint.lane === 'public') {
    await passGates(deps, context);
    return endpoint.handle(deps, request());
  }
  if (endpoint.signedLink !== undefined && isSignedLink(request().query)) {
    refuseVersion(context);
    return endpoint.signedLink(deps, request());
  }
  await passGates(deps, context);
  // A client that has left before: nothing else releases what the gates acquired.
  if (exchange.reply.raw.closed) await context.release();
  if (endpoint.lane === 'other') refuseUnknownParameters(endpoint, request().query);
  if (context.caller === null) throw new Error(`${endpoint.path} was reached without a key`);
  return endpoint.handle(deps, { ...request(), caller: context.caller });
}

/** Returns whether the query has a signed link, which replaces the key (docs/reference/jobs.md#download). */
function isSignedLink(query: URLSearchParams): boolean {
  return query.has('signature') || query.has('expires');
}

function newGateContext(
  { trustedProxies }: Pick<ApiDeps, 'trustedProxies'>,
  endpoint: Endpoint,
  request: FastifyRequest,
): GateContext {
  const version = request.headers['svc-version'];
  return {
    endpoint,
    authorization: request.headers.authorization,
    version: Array.isArray(version) ? version.join(', ') : version,
    idempotencyKey: request.headers['idempotency-key'],
    address: clientAddress(trustedProxies, {
      peer: request.raw.socket.remoteAddress ?? '',
      forwardedFor: joined(request.headers['x-forwarded-for']),
      forwardedProto: joined(request.headers['x-forwarded-proto']),
    }),
    caller: null,
    rateHeaders: {},
    release: async () => {},
  };
}

function readRequest({ request, reply, traceparent }: TracedExchange): ApiRequest {
  const disconnected = new AbortController();
  if (reply.raw.closed) disconnected.abort();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) disconnected.abort();
  });
  const { 'x-sent-content-type': contentType, ...headers } = request.headers;
  const length = headers['content-length'];
  const params = request.params as Record<string, string>;
  const { query: queryText } = splitTarget(request.raw.url ?? '');
  const query = new URLSearchParams(queryText);
  if (containsNul(params) || containsNul([...query])) throw nulCharacterError('address');
  return {
    id: request.id,
    params,
    query,
    queryText,
    headers: { ...headers, 'content-type': joined(contentType) },
    traceparent,
    body: request.raw,
    contentLength: length === undefined ? null : Number(length),
    signal: disconnected.signal,
  };
}

async function sendBody(reply: FastifyReply, body: ApiReply['body']): Promise<FastifyReply> {
  const isJson = typeof body === 'object' && !Buffer.isBuffer(body) && !('pipe' in body);
  if (isJson) reply.type('application/json; charset=utf-8');
  await reply.send(isJson ? JSON.stringify(body) : body);
  return reply;
}

async function refuseUnknown(
  deps: Pick<ApiDeps, 'log' | 'docsUrl'>,
  endpoints: readonly Endpoint[],
  { request, reply }: HttpExchange,
): Promise<void> {
  const allowed = methodsOfPath(request.url, endpoints);
  const error =
    allowed.length === 0
      ? new MediaError('not_found', noEndpoint(request.url, endpoints))
      : new MediaError('bad_request', `${request.method} is not supported here; use ${allowed.join(' or ')}.`, {
          status: 405,
        });
  if (allowed.length > 0) reply.header('Allow', allowed.join(', '));
  drainBody(request.raw);
  await sendRefusal(deps, reply, { error, requestId: request.id });
}

function joined(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(',') : value;
}
