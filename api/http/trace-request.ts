import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Endpoint } from '#api/http/endpoint.ts';
import type { Tracing } from '#crds/process/tracing.ts';

/**
 * Starts the span of a request, below the caller's, and returns its context. It ends with the response. Of the request it
 * has the path pattern of the endpoint and no address, because addresses contain ids and signatures.
 */
export function traceRequest(
  tracing: Tracing,
  { method, path }: Pick<Endpoint, 'method' | 'path'>,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): string {
  const { traceparent } = request.headers;
  const span = tracing.start({
    name: `${method} ${path}`,
    kind: 'server',
    parent: typeof traceparent === 'string' ? traceparent : null,
  });
  reply.raw.once('close', () => {
    const { headersSent, statusCode } = reply.raw;
    const status = headersSent ? statusCode : undefined;
    span.end({
      error: status === undefined ? 'no_response' : status >= 500 ? String(status) : null,
      attributes: {
        'http.request.method': method,
        'http.route': path,
        'url.scheme': 'https',
        'http.response.status_code': status,
        'mediajobs.request.id': request.id,
      },
    });
  });
  return span.traceparent;
}
