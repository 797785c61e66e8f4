import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import type { z } from 'zod';
import { heartbeatToken } from '#crds/contract/heartbeat-token.ts';
import type { Log } from '#crds/process/log.ts';

/** Default maximum size of a request's body, in bytes. */
const BODY_BYTES = 2048;

export interface PortReply {
  readonly status: number;
  readonly body?: object;
}

/** Handles the requests of one path. The signal aborts when the sender no longer waits. */
export type PortEndpoint = (request: IncomingMessage, signal: AbortSignal) => Promise<PortReply>;

interface AttemptBody {
  readonly jobId: string;
  readonly attempt: number;
}

interface AcceptedRequest<Body> {
  /** Key of the attempts' tokens. */
  readonly key: Buffer;
  readonly schema: z.ZodType<Body>;
  /** Maximum size of the body, in bytes. */
  readonly maxBytes?: number;
}

/**
 * Returns an endpoint for the requests of an attempt's worker: a POST of JSON with the token of its job and attempt. It
 * refuses all others with 400, 401 or 405.
 */
export function attemptEndpoint<Body extends AttemptBody>(
  { key, schema, maxBytes = BODY_BYTES }: AcceptedRequest<Body>,
  handle: (body: Body, request: IncomingMessage) => Promise<PortReply>,
): PortEndpoint {
  return async (request) => {
    if (request.method !== 'POST') return { status: 405 };
    const body = schema.safeParse(await readJson(request, maxBytes)).data;
    if (body === undefined) return { status: 400 };
    const { authorization } = request.headers;
    const isAllowed = isToken(authorization, heartbeatToken(key, body.jobId, body.attempt));
    return isAllowed ? handle(body, request) : { status: 401 };
  };
}

interface ListenerOptions {
  readonly log: Pick<Log, 'error'>;
  /** Log message of a request whose endpoint failed. */
  readonly failure: string;
  /** Aborted when the server closes. */
  readonly closing?: AbortSignal;
}

/** Returns a listener that sends each request to the endpoint of its path. 404: there is none; 503: it failed. */
export function portListener(
  endpoints: ReadonlyMap<string | undefined, PortEndpoint>,
  { log, failure, closing }: ListenerOptions,
): RequestListener {
  const notFound: PortEndpoint = async () => ({ status: 404 });
  return (request, response) => {
    const closed = new AbortController();
    response.once('close', () => closed.abort());
    const signal = closing === undefined ? closed.signal : AbortSignal.any([closed.signal, closing]);
    const endpoint = endpoints.get(request.url) ?? notFound;
    endpoint(request, signal).then(
      ({ status, body }) => {
        response.writeHead(status, body === undefined ? {} : { 'content-type': 'application/json' });
        response.end(body === undefined ? undefined : JSON.stringify(body));
      },
      (error: unknown) => {
        log.error({ err: error, path: request.url }, failure);
        response.writeHead(503).end();
      },
    );
  };
}

/** Returns the reply with what was granted; 410 for null: the attempt is not current. */
export function replyWith(granted: object | null): PortReply {
  return granted === null ? { status: 410 } : { status: 200, body: granted };
}

/** Returns the JSON of a body; undefined for any other text, and for one above `maxBytes`. */
export async function readJson(request: IncomingMessage, maxBytes = BODY_BYTES): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return undefined;
  }
}

function isToken(header: string | undefined, expected: string): boolean {
  const sent = Buffer.from(header ?? '');
  const wanted = Buffer.from(`Bearer ${expected}`);
  return sent.length === wanted.length && timingSafeEqual(sent, wanted);
}
