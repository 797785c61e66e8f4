import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Documentation } from '#api/docs/documentation.ts';
import { drainBody } from '#api/http/drain-body.ts';
import { MediaError } from '#crds/contract/media-error.ts';

const HEADERS = {
  'Cache-Control': 'public, max-age=300',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
};

/** Adds public `GET` and `HEAD` routes below `/docs`, to which `doc_url` refers unless MEDIAJOBS_DOCS_URL is set. */
export function serveDocumentation(server: FastifyInstance, documentation: Documentation): void {
  const handler = (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
    serveFile(documentation, request, reply);
  for (const url of ['/docs', '/docs/*']) server.all(url, handler);
}

async function serveFile(
  documentation: Documentation,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    reply.header('Allow', 'GET, HEAD');
    drainBody(request.raw);
    throw new MediaError('bad_request', `${request.method} is not supported here; use GET or HEAD.`, { status: 405 });
  }
  const path = ((request.params as { '*'?: string })['*'] ?? '').replace(/\/$/, '');
  const found = documentation.get(path);
  if (found === undefined) throw new MediaError('not_found', 'There is no such page; /docs lists them.');
  reply.headers({ ...HEADERS, ETag: found.etag });
  if (request.headers['if-none-match'] === found.etag) return reply.code(304).send();
  reply.headers({ 'Content-Type': found.mediaType, 'Content-Length': found.body.length });
  return reply.code(200).send(request.method === 'HEAD' ? undefined : found.body);
}
