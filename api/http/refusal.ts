import type { FastifyReply } from 'fastify';
import { MediaError } from '#crds/contract/media-error.ts';
import type { Log } from '#crds/process/log.ts';

interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly error: Readonly<Record<string, string | null>> };
}

/**
 * Returns the response for an error (docs/reference/errors.md#error-object). Unexpected errors are logged and returned
 * as `internal`.
 */
export function refusal(deps: { log: Log; docsUrl: string }, input: { error: unknown; requestId: string }): Refusal {
  const error = asMediaError(deps.log, input);
  const retryAfter = error.retryAfterSeconds;
  return {
    status: error.status ?? 500,
    headers: {
      ...(retryAfter === null ? {} : { 'Retry-After': String(Math.max(1, Math.ceil(retryAfter))) }),
      // RFC 9110, 11.6.1: every 401 names the scheme to use.
      ...(error.status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
    },
    body: {
      error: {
        type: error.type,
        code: error.code,
        message: error.message,
        param: error.param,
        request_id: input.requestId,
        doc_url: `${deps.docsUrl}/reference/errors#${error.code}`,
      },
    },
  };
}

/** Sends the error object of an error. */
export async function sendRefusal(
  deps: { log: Log; docsUrl: string },
  reply: FastifyReply,
  input: { error: unknown; requestId: string },
): Promise<void> {
  const { status, headers, body } = refusal(deps, input);
  await reply.code(status).headers(headers).type('application/json; charset=utf-8').send(JSON.stringify(body));
}

/** Returns a MediaError unchanged. Any other error is logged and replaced by `internal`. */
export function asMediaError(log: Log, { error, requestId }: { error: unknown; requestId: string }): MediaError {
  if (error instanceof MediaError) {
    if (error.cause !== undefined) log.info({ request_id: requestId, code: error.code, err: error.cause }, 'refused');
    return error;
  }
  log.error({ request_id: requestId, err: error }, 'request failed');
  return new MediaError(
    'internal',
    'The service failed to handle this request. Try again. If it persists, report the request id.',
  );
}
