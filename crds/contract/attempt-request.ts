import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { heartbeatToken } from '#crds/contract/heartbeat-token.ts';

/** Default maximum size of a request's body, in bytes. */
const BODY_BYTES = 2048;

/**
 * Reads the request of an attempt's worker: a POST of JSON with the token of its job and attempt. Returns the body, or
 * the status of the refusal.
 */
export async function readAttemptRequest<Body extends { jobId: string; attempt: number }>(
  request: IncomingMessage,
  { key, schema, maxBytes = BODY_BYTES }: { key: Buffer; schema: z.ZodType<Body>; maxBytes?: number },
): Promise<{ readonly body: Body } | { readonly status: 400 | 401 | 405 }> {
  if (request.method !== 'POST') return { status: 405 };
  const body = schema.safeParse(await readJson(request, maxBytes)).data;
  if (body === undefined) return { status: 400 };
  const { authorization } = request.headers;
  return isToken(authorization, heartbeatToken(key, body.jobId, body.attempt)) ? { body } : { status: 401 };
}

/** Returns the JSON of a body; undefined for any other text, and for one above `maxBytes`. */
async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
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
