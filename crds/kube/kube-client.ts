/**
 * Requests to an API server as raw JSON, so that unknown fields are preserved. Unary calls use @kubernetes/client-node
 * for authentication and transport, with a rate limit and a timeout. Requests that the server sheds (429, or 503 with
 * Retry-After) are retried.
 */
import { HttpMethod, IsomorphicFetchHttpLibrary, RequestContext } from '@kubernetes/client-node';
import { request } from 'undici';
import type { Connection } from '#crds/kube/connection.ts';
import { KubeError, refusalOf } from '#crds/kube/kube-error.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import type { RateLimit } from '#crds/kube/rate-limit.ts';
import type { Time } from '#crds/kube/time.ts';

export interface ObjectList {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly KubeObject[];
}

export interface DeleteOptions {
  /** Precondition: the server refuses with 409 when another object has the name. */
  readonly uid?: string;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
}

/** Client of an API server. Calls throw KubeError: with the status of a refusal, or 0 when there was no response. */
export interface KubeClient {
  get(path: string): Promise<KubeObject>;
  list(path: string, query: Query): Promise<ObjectList>;
  create(path: string, body: object): Promise<KubeObject>;
  /** Replaces an object; the body contains the resourceVersion that it is based on. */
  replace(path: string, body: object): Promise<KubeObject>;
  mergePatch(path: string, body: object): Promise<KubeObject>;
  delete(path: string, options?: DeleteOptions): Promise<void>;
  /** Returns the bytes of the response. Ends with the signal. */
  watch(path: string, query: Query, signal: AbortSignal): Promise<AsyncIterable<Buffer>>;
}

export type Query = Readonly<Record<string, string | undefined>>;

export interface CallLimits {
  /** Timeout of each attempt of a call, in milliseconds. */
  readonly timeoutMs: number;
  /** Maximum attempts of a call whose requests the server sheds. */
  readonly maxAttempts: number;
}

export interface KubeClientDeps {
  readonly connection: Connection;
  readonly rateLimit: RateLimit;
  readonly time: Pick<Time, 'wait'>;
  readonly metrics: { requested(method: string, status: number): void };
  /** Called before each write; throws when this process may no longer write, as after a lost lease. */
  readonly beforeWrite?: () => void;
  /** Default: 4 attempts of 30 seconds. */
  readonly limits?: CallLimits;
}

interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Query;
  readonly body?: object;
  readonly contentType?: string;
}

interface UnaryResponse {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

const DEFAULT_LIMITS: CallLimits = { timeoutMs: 30_000, maxAttempts: 4 };
const MAX_RETRY_AFTER_MS = 10_000;

export function makeKubeClient(deps: KubeClientDeps): KubeClient {
  const http = new IsomorphicFetchHttpLibrary();
  const call = async <T = KubeObject>(what: Call): Promise<T> => {
    if (what.method !== 'GET') deps.beforeWrite?.();
    const response = await responseOf(deps, http, what);
    if (response.status >= 300) throw refusalOf(`${what.method} ${what.path}`, response);
    return JSON.parse(response.body) as T;
  };
  return {
    get: (path) => call({ method: 'GET', path }),
    list: (path, query) => call<ObjectList>({ method: 'GET', path, query }),
    create: (path, body) => call({ method: 'POST', path, body }),
    replace: (path, body) => call({ method: 'PUT', path, body }),
    mergePatch: (path, body) => call({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' }),
    async delete(path, { uid, ...options } = {}) {
      const preconditions = uid === undefined ? {} : { preconditions: { uid } };
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...options, ...preconditions };
      await call({ method: 'DELETE', path, body });
    },
    watch: (path, query, signal) => openWatch(deps, urlOf(deps, path, query), signal),
  };
}

async function responseOf(deps: KubeClientDeps, http: IsomorphicFetchHttpLibrary, what: Call): Promise<UnaryResponse> {
  const { maxAttempts } = deps.limits ?? DEFAULT_LIMITS;
  for (let attempt = 1; ; attempt += 1) {
    const response = await send(deps, http, what);
    const delay = attempt < maxAttempts ? retryDelay(response) : null;
    if (delay === null) return response;
    await deps.time.wait(delay, new AbortController().signal);
    if (what.method !== 'GET') deps.beforeWrite?.();
  }
}

/** Returns the delay before a retry, in milliseconds; null when the response is final. */
function retryDelay({ status, retryAfter }: UnaryResponse): number | null {
  if (status !== 429 && !(status === 503 && retryAfter !== undefined)) return null;
  const seconds = Number(retryAfter ?? 1);
  return Math.min(MAX_RETRY_AFTER_MS, Number.isFinite(seconds) ? seconds * 1000 : 1000);
}

async function send(deps: KubeClientDeps, http: IsomorphicFetchHttpLibrary, what: Call): Promise<UnaryResponse> {
  const signal = AbortSignal.timeout((deps.limits ?? DEFAULT_LIMITS).timeoutMs);
  await deps.rateLimit.take(signal);
  const { client } = deps.connection;
  const isWrite = what.body !== undefined && what.method !== 'DELETE';
  const query = { ...what.query, ...(isWrite ? { fieldManager: client } : {}) };
  const context = new RequestContext(urlOf(deps, what.path, query), HttpMethod[what.method]);
  // The list of public keys has a media type of its own.
  context.setHeaderParam('Accept', 'application/json, */*');
  context.setHeaderParam('User-Agent', client);
  context.setSignal(signal);
  if (what.body !== undefined) {
    context.setHeaderParam('Content-Type', what.contentType ?? 'application/json');
    context.setBody(JSON.stringify(what.body));
  }
  try {
    await deps.connection.unary.applySecurityAuthentication(context);
    const response = await http.send(context).toPromise();
    const body = await response.body.text();
    deps.metrics.requested(what.method, response.httpStatusCode);
    return { status: response.httpStatusCode, retryAfter: response.headers['retry-after'], body };
  } catch (error) {
    deps.metrics.requested(what.method, 0);
    throw new KubeError(`${what.method} ${what.path}: the API server does not answer (${causeOf(error)})`, {
      status: 0,
      cause: error,
    });
  }
}

function urlOf({ connection }: Pick<KubeClientDeps, 'connection'>, path: string, query: Query): string {
  const url = new URL(connection.server + path);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}

async function openWatch(
  { connection, metrics }: KubeClientDeps,
  url: string,
  signal: AbortSignal,
): Promise<AsyncIterable<Buffer>> {
  const context = new RequestContext(url, HttpMethod.GET);
  await connection.watch.applySecurityAuthentication(context);
  const dispatcher = context.getDispatcher();
  const response = await request(url, {
    headers: { ...context.getHeaders(), accept: 'application/json', 'user-agent': connection.client },
    signal,
    ...(dispatcher === undefined ? {} : { dispatcher }),
  }).catch((error: unknown) => {
    throw new KubeError(`watch ${url}: the API server does not answer (${causeOf(error)})`, {
      status: 0,
      cause: error,
    });
  });
  metrics.requested('WATCH', response.statusCode);
  if (response.statusCode === 200) return response.body as AsyncIterable<Buffer>;
  const retryAfter = response.headers['retry-after'];
  const body = await response.body.text();
  throw refusalOf(`watch ${new URL(url).pathname}`, {
    status: response.statusCode,
    retryAfter: String(retryAfter ?? '') || undefined,
    body,
  });
}

/** Returns the message of the cause: the message of Node.js' fetch is only "fetch failed". */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
