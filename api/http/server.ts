/**
 * The HTTPS server. A request goes: request id and version → path and method (404, 405) → gates → the
 * endpoint → the reply or the error object. Nothing here parses a body.
 */
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { ApiDeps } from '#api/api-deps.ts';
import type { ApiReply, ApiRequest, Endpoint } from '#api/endpoint.ts';
import { endConnectionsAtClose } from '#crds/shared/end-connections.ts';
import { drainBody } from '#api/http/drain-body.ts';
import { API_VERSION, passGates, refuseVersion, type Passage } from '#api/http/gates.ts';
import { holdsNul, nulCharacter } from '#api/http/nul-character.ts';
import { makeConnectionsPausable } from '#api/http/pausable-connections.ts';
import { answerOddRequests, refuseMalformed, refusePlainHttp } from '#api/http/refuse-malformed.ts';
import { sendRefusal } from '#api/http/refusal.ts';
import type { Certificate } from '#api/http/renew-certificate.ts';
import { clientAddress } from '#api/http/request-address.ts';
import { MediaError } from '#crds/media-error.ts';

const HEADERS_TIMEOUT_MS = 10_000;
/** How often connections are looked over for late headers. */
const CHECK_EVERY_MS = 5000;
/** Longer than any line of a request may be: no id is too long to be looked for. */
const MAX_PARAMETER = 20_000;

/** Builds the server with one route per endpoint; listening is the caller's. */
export function makeServer(deps: ApiDeps, endpoints: readonly Endpoint[], tls: Certificate): FastifyInstance {
  const server = Fastify({
    // Uploads may take long: a minimum pace is enforced while a body is read instead.
    https: {
      ...tls,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_EVERY_MS,
      requestTimeout: 0,
      requireHostHeader: false,
    },
    logger: false,
    genReqId: () => deps.newId('request'),
    requestIdHeader: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAMETER },
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    // What still arrives on an open connection is served, and its answer closes the connection.
    return503OnClosing: false,
    frameworkErrors: (_error, request, reply) => {
      markReply(request, reply);
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
    markReply(request, reply);
    refuseHost(request);
  });
  answerOddRequests(deps, server.server);
  refusePlainHttp(deps, server.server);
  makeConnectionsPausable(server.server);
  const endConnections = endConnectionsAtClose(server.server);
  server.addHook('preClose', async () => endConnections());
  server.setNotFoundHandler((request, reply) => refuseUnknown(deps, endpoints, { request, reply }));
  server.setErrorHandler((error, request, reply) => sendRefusal(deps, reply, { error, requestId: request.id }));
  for (const endpoint of endpoints) {
    server.route({
      method: endpoint.method,
      url: endpoint.path,
      handler: (request, reply) =>
        isFor(endpoints, endpoint, request)
          ? serve(deps, endpoint, { request, reply })
          : refuseUnknown(deps, endpoints, { request, reply }),
    });
  }
  return server;
}

/** False for `PATCH /v1/things/word` when `/v1/things/word` is a path of its own: the word is no id. */
function isFor(endpoints: readonly Endpoint[], { path }: Endpoint, request: FastifyRequest): boolean {
  return !path.includes(':') || endpoints.every((other) => other.path !== pathOf(request));
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** What every response carries. The content type is set aside: any one counts as raw bytes. */
function markReply(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers({ 'Svc-Request-Id': request.id, 'Svc-Version': API_VERSION, 'X-Content-Type-Options': 'nosniff' });
  const { headers } = request.raw;
  headers['x-sent-content-type'] = headers['content-type'];
  headers['content-type'] = 'application/octet-stream';
}

/** RFC 9112 3.2. Ours to refuse, since Node.js would do it without the error object. */
function refuseHost({ raw }: FastifyRequest): void {
  const hosts = raw.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
  if (hosts === 1 || (hosts === 0 && raw.httpVersion === '1.0')) return;
  throw new MediaError('bad_request', `The request has ${hosts} \`Host\` headers; send one.`, { param: 'Host' });
}

async function serve(deps: ApiDeps, endpoint: Endpoint, { request, reply }: Exchange): Promise<FastifyReply> {
  const started = process.hrtime.bigint();
  const passage = newPassage(deps, endpoint, request);
  reply.raw.once('close', () => {
    void passage.release();
    const seconds = Number(process.hrtime.bigint() - started) / 1e9;
    deps.metrics.requests.observe(
      { endpoint: endpoint.path, method: endpoint.method, status: reply.statusCode },
      seconds,
    );
  });
  try {
    const answer = await answerOf(deps, passage, { request, reply });
    reply.code(answer.status).headers({ ...passage.rateHeaders, ...answer.headers });
    return await sendBody(reply, answer.body);
  } catch (error) {
    if (reply.raw.closed) return reply;
    reply.headers(await rateHeadersOf(deps, passage));
    drainBody(request.raw);
    await sendRefusal(deps, reply, { error, requestId: request.id });
    return reply;
  }
}

/** Every direct answer after the key was accepted has them, also one that was refused before its turn. */
async function rateHeadersOf(
  deps: ApiDeps,
  { endpoint, caller, rateHeaders }: Passage,
): Promise<Passage['rateHeaders']> {
  const isEarly = endpoint.lane === 'direct' && caller !== null && Object.keys(rateHeaders).length === 0;
  return isEarly ? deps.limits.directHeaders(caller) : rateHeaders;
}

async function answerOf(deps: ApiDeps, passage: Passage, exchange: Exchange): Promise<ApiReply> {
  const { endpoint } = passage;
  const request = () => readRequest(exchange);
  if (endpoint.lane === 'open') {
    await passGates(deps, passage);
    return endpoint.handle(deps, request());
  }
  if (endpoint.signedLink !== undefined && isLink(request().query)) {
    refuseVersion(passage);
    return endpoint.signedLink(deps, request());
  }
  await passGates(deps, passage);
  if (passage.caller === null) throw new Error(`${endpoint.path} was reached without a key`);
  return endpoint.handle(deps, { ...request(), caller: passage.caller });
}

/** A link carries its own proof: a key beside it, and its allow-list, do not matter. Spec: Authentication 2. */
function isLink(query: URLSearchParams): boolean {
  return query.has('signature') || query.has('expires');
}

function newPassage(deps: ApiDeps, endpoint: Endpoint, request: FastifyRequest): Passage {
  const version = request.headers['svc-version'];
  return {
    endpoint,
    authorization: request.headers.authorization,
    version: Array.isArray(version) ? version.join(', ') : version,
    address: clientAddress(deps.trustedProxies, {
      peer: request.raw.socket.remoteAddress ?? '',
      forwardedFor: joined(request.headers['x-forwarded-for']),
      forwardedProto: joined(request.headers['x-forwarded-proto']),
    }),
    caller: null,
    rateHeaders: {},
    release: async () => {},
  };
}

function readRequest({ request, reply }: Exchange): ApiRequest {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  const { 'x-sent-content-type': contentType, ...headers } = request.headers;
  const length = headers['content-length'];
  const params = request.params as Record<string, string>;
  const query = new URL(request.raw.url ?? '/', 'https://localhost').searchParams;
  if (holdsNul(params) || holdsNul([...query])) throw nulCharacter('address');
  return {
    id: request.id,
    params,
    query,
    headers: { ...headers, 'content-type': joined(contentType) },
    body: request.raw,
    contentLength: length === undefined ? null : Number(length),
    signal: gone.signal,
  };
}

async function sendBody(reply: FastifyReply, body: ApiReply['body']): Promise<FastifyReply> {
  const isJson = typeof body === 'object' && !Buffer.isBuffer(body) && !('pipe' in body);
  if (isJson) reply.type('application/json; charset=utf-8');
  await reply.send(isJson ? JSON.stringify(body) : body);
  return reply;
}

async function refuseUnknown(
  deps: ApiDeps,
  endpoints: readonly Endpoint[],
  { request, reply }: Exchange,
): Promise<void> {
  const path = pathOf(request);
  const named = endpoints.filter((endpoint) => endpoint.path === path);
  const matching = named.length > 0 ? named : endpoints.filter((endpoint) => patternOf(endpoint.path).test(path));
  const allowed = matching.map((endpoint) => endpoint.method);
  const error =
    allowed.length === 0
      ? new MediaError('not_found', `There is no endpoint at this path. ${deps.docsUrl} lists them.`)
      : new MediaError('bad_request', `${request.method} is not supported here; use ${allowed.join(' or ')}.`, {
          status: 405,
        });
  if (allowed.length > 0) reply.header('Allow', allowed.join(', '));
  drainBody(request.raw);
  await sendRefusal(deps, reply, { error, requestId: request.id });
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?')[0]?.replace(/(.)\/$/, '$1') ?? '/';
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/:[a-z_]+/g, '[^/]+')}$`);
}

function joined(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(',') : value;
}
