import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { heartbeatToken } from '#crds/contract/heartbeat-token.ts';

/** Default maximum size of a request's body, in bytes. */
const BODY_BYTES = 2048;

export interface PortReply {
  readonly status: number;
  readonly body?: object;
}

/** Handles the requests of one path. */
export type AttemptEndpoint = (request: IncomingMessage) => Promise<PortReply>;

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
): AttemptEndpoint {
  return async (request) => {
    if (request.method !== 'POST') return { status: 405 };
    const body = schema.safeParse(await readJson(request, maxBytes)).data;
    if (body === undefined) return { status: 400 };
    const { authorization } = request.headers;
    const isAllowed = isToken(authorization, heartbeatToken(key, body.jobId, body.attempt));
    return isAllowed ? handle(body, request) : { status: 401 };
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
