/**
 * HTTP requests to URLs of callers. No URL, DNS response or redirect can make them connect to a private address:
 *
 *   URL rules → resolve every address → each one public or allowed → connect to a checked address
 *   → compare the connected address → send → (redirect: all of it again, at most `maxRedirects` times)
 *
 * A connection serves one request. Proxy settings of the environment are not read. Content codings
 * are neither requested nor decoded. Source: OWASP SSRF prevention, docs/reference/webhooks.md#url-rules.
 */
import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import type { SecureContext } from 'node:tls';
import { Client, type Dispatcher } from 'undici';
import { targetProblem, type TargetPurpose } from '#api/outbound/public-url.ts';
import { watchExcess } from '#api/outbound/excess-bytes.ts';
import { SafeFetchError, toSafeFetchError } from '#api/outbound/safe-fetch-error.ts';
import { makeDeadline, type Deadline } from '#api/outbound/safe-fetch-deadline.ts';
import { checkedAddresses, pinnedConnector, type Resolve } from '#api/outbound/pinned-connector.ts';

export interface SafeFetchDeps {
  readonly resolve: Resolve;
  /** CIDRs that the operator allows besides public addresses. */
  readonly privateTargets: readonly string[];
  /** Trusted certificates. */
  readonly secureContext: SecureContext;
}

export interface SafeRequest {
  readonly url: string;
  readonly purpose: TargetPurpose;
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | Readable;
  /** Maximum number of redirects, for GET only; 0: a redirect is returned as the response. */
  readonly maxRedirects: number;
  /** Deadline for everything, DNS and the response's body included, in milliseconds. */
  readonly totalMs: number;
  /** Maximum time without a byte in either direction, in milliseconds. */
  readonly idleMs: number;
  /** Maximum size of the response's body, in bytes. */
  readonly maxBodyBytes: number;
  readonly signal?: AbortSignal;
}

export interface SafeResponse {
  readonly status: number;
  /** Returns the first value of a header (lower-case name); null when absent. */
  header(name: string): string | null;
  /** Returns the body. It must be read to its end or discarded. @throws SafeFetchError */
  body(): AsyncGenerator<Buffer>;
  /** Ends the connection; the rest of the body is not received. */
  discard(): void;
}

export type SafeFetch = (request: SafeRequest) => Promise<SafeResponse>;

/** Returns a function that sends a request and resolves with the response's headers. It throws SafeFetchError only. */
export function makeSafeFetch(deps: SafeFetchDeps): SafeFetch {
  return async (request) => {
    const deadline = makeDeadline(request);
    try {
      return await followRedirects(deps, request, deadline);
    } catch (error) {
      deadline.clear();
      throw toSafeFetchError(deadline.reason() ?? error);
    }
  };
}

const REDIRECTS = [301, 302, 303, 307, 308];
/** Maximum size of a response's status line and headers, in bytes. */
const MAX_HEADER_BYTES = 16 * 1024;

async function followRedirects(deps: SafeFetchDeps, request: SafeRequest, deadline: Deadline): Promise<SafeResponse> {
  let url = parseUrl(request.url, null);
  for (let redirects = 0; ; redirects += 1) {
    const open = await send(deps, { ...request, target: url }, deadline);
    const location = header(open.response, 'location');
    const isFollowed = request.maxRedirects > 0 && REDIRECTS.includes(open.response.statusCode) && location !== null;
    if (!isFollowed) return toResponse(open, request.maxBodyBytes, deadline);
    open.close();
    if (redirects === request.maxRedirects) {
      throw new SafeFetchError('too_many_redirects', `it was redirected more than ${request.maxRedirects} times`);
    }
    url = parseUrl(location, url);
  }
}

function parseUrl(text: string, base: URL | null): URL {
  const url = URL.parse(text, base?.href);
  if (url === null)
    throw new SafeFetchError(
      'bad_url',
      base === null ? 'it is not a URL' : 'it was redirected to something that is not a URL',
    );
  return url;
}

interface OpenResponse {
  readonly response: Dispatcher.ResponseData;
  /** Ends the connection. */
  readonly close: () => void;
  /** Returns whether the server sent more bytes than its Content-Length. */
  readonly hasExcess: () => boolean;
}

async function send(
  deps: SafeFetchDeps,
  request: SafeRequest & { readonly target: URL },
  deadline: Deadline,
): Promise<OpenResponse> {
  const { target: url, purpose } = request;
  const problem = targetProblem(url, { purpose, privateTargets: deps.privateTargets });
  if (problem !== null) throw new SafeFetchError('bad_url', `the URL ${problem}`);
  const addresses = await deadline.race(() => checkedAddresses(deps, { host: url.hostname, signal: deadline.signal }));
  const connect = pinnedConnector({ secureContext: deps.secureContext, signal: deadline.signal }, { url, addresses });
  let hasExcess = (): boolean => false;
  const client = new Client(url.origin, {
    connect: (options, done) =>
      connect(options, (...[error, socket]) => {
        if (error !== null) return done(error, null);
        hasExcess = watchExcess(socket);
        done(null, socket);
      }),
    maxHeaderSize: MAX_HEADER_BYTES,
    // The deadline replaces these timeouts, which would count a slow upload as a late response.
    headersTimeout: 0,
    bodyTimeout: 0,
    allowH2: false,
    useMilo: false,
  });
  // A destroyed client reports errors to its requests, so its own rejection is ignored.
  const close = (): void => void client.destroy().catch(() => undefined);
  try {
    const response = await client.request({
      method: request.method,
      path: url.pathname + url.search,
      headers: { 'accept-encoding': 'identity', ...request.headers },
      body: request.body === undefined ? null : watched(request.body, deadline),
      signal: deadline.signal,
      reset: true,
    });
    deadline.touch();
    // Without a listener, the error of a discarded stream would end the process.
    response.body.on('error', () => undefined);
    return { response, close, hasExcess: () => hasExcess() };
  } catch (error) {
    close();
    throw error;
  }
}

function watched(body: Buffer | Readable, deadline: Deadline): Buffer | Readable {
  return Buffer.isBuffer(body) ? body : Readable.from(touching(body, deadline), { objectMode: false });
}

async function* touching(body: Readable, deadline: Deadline): AsyncGenerator<Buffer> {
  for await (const chunk of body) {
    deadline.touch();
    yield chunk as Buffer;
  }
  deadline.touch();
}

function header(response: Dispatcher.ResponseData, name: string): string | null {
  const text = [response.headers[name] ?? null].flat()[0] ?? null;
  return text === null ? null : decodeUtf8(text);
}

/** Returns the header value decoded as UTF-8 if it is valid: undici decodes headers as Latin-1. */
function decodeUtf8(latin1: string): string {
  const bytes = Buffer.from(latin1, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : latin1;
}

function toResponse(
  { response, close, hasExcess }: OpenResponse,
  maxBodyBytes: number,
  deadline: Deadline,
): SafeResponse {
  const end = (): void => {
    deadline.clear();
    close();
  };
  return {
    status: response.statusCode,
    header: (name) => header(response, name),
    body: () => readBody(response.body, maxBodyBytes, { deadline, end, hasExcess }),
    discard: end,
  };
}

async function* readBody(
  body: Readable,
  maxBytes: number,
  { deadline, end, hasExcess }: { deadline: Deadline; end: () => void; hasExcess: () => boolean },
): AsyncGenerator<Buffer> {
  let received = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      deadline.touch();
      received += chunk.length;
      if (received > maxBytes)
        throw new SafeFetchError('body_too_large', `the response has more than ${maxBytes} bytes`);
      yield chunk;
    }
    if (hasExcess()) throw new SafeFetchError('body_too_large', 'the response has more bytes than its Content-Length');
  } catch (error) {
    throw toSafeFetchError(deadline.reason() ?? error);
  } finally {
    end();
  }
}
