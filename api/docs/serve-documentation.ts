import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Document, Documentation } from '#api/docs/documentation.ts';
import { renderPage } from '#api/docs/render-page.ts';
import { drainBody } from '#api/http/drain-body.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { escapeHtml } from '#crds/process/escape-html.ts';

const HTML = 'text/html; charset=utf-8';
/** Hash of the only style that the site's scripts add: it stops transitions while the colors change. */
const TRANSITION_STYLE = "'sha256-skqujXORqzxt1aE0NNXxujEanPTX6raoqSscTV/Ww/Y='";

/** Returns the headers of a page that may run the given inline scripts, and those of the site. */
function headersOf(scripts: readonly string[]): Record<string, string> {
  const own =
    scripts.length === 0
      ? "style-src 'self'; "
      : `style-src 'self' ${TRANSITION_STYLE}; script-src 'self' ${scripts.join(' ')}; `;
  return {
    'Cache-Control': 'public, max-age=300',
    'Content-Security-Policy': `default-src 'none'; ${own}connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'Referrer-Policy': 'no-referrer',
  };
}

interface DocumentationServer {
  readonly documentation: Documentation;
  /** Path of the documentation, such as `/docs`. */
  readonly root: string;
  /** Name of the installation. */
  readonly name: string;
  readonly docsUrl: string;
  /** null: the dashboard is switched off. */
  readonly dashboardUrl: string | null;
}

/**
 * Adds public `GET` and `HEAD` routes below `/docs`, to which `doc_url` refers unless MEDIAJOBS_DOCS_URL is set, a page
 * for browsers at `/`, and `/robots.txt`.
 */
export function serveDocumentation(
  server: FastifyInstance,
  { documentation, root, name, docsUrl, dashboardUrl }: DocumentationServer,
): void {
  const handler = (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
    serveFile({ documentation, root, name }, request, reply);
  for (const url of ['/docs', '/docs/*']) server.all(url, handler);
  const start = renderPage({ markdown: startPage(docsUrl, dashboardUrl), name, root, path: '' });
  server.get('/', async (request, reply) => {
    if (!wantsPage(request))
      throw new MediaError('not_found', `The API is below /v1; its documentation is at ${docsUrl}.`);
    return reply
      .code(200)
      .headers({ ...headersOf([]), 'Content-Type': HTML })
      .send(start);
  });
  server.get('/robots.txt', async (_request, reply) =>
    reply
      .code(200)
      .headers({ ...headersOf([]), 'Content-Type': 'text/plain; charset=utf-8' })
      .send(robots(root)),
  );
}

/** Returns which pages search engines may list: the public ones. */
function robots(root: string): string {
  return `User-agent: *\nAllow: /$\nAllow: ${root}\nDisallow: /\n`;
}

function startPage(docsUrl: string, dashboardUrl: string | null): string {
  const choices = [
    [docsUrl, 'Documentation', 'The first request in ten minutes, guides, and every endpoint.'],
    ...(dashboardUrl === null ? [] : [[dashboardUrl, 'Dashboard', 'Keys, jobs, usage and webhooks in the browser.']]),
    ['/v1/capabilities', 'Capabilities', 'Operations, formats and limits, as JSON.'],
  ];
  const items = choices.map(
    ([url, title, text]) => `<li><a href="${escapeHtml(url ?? '')}"><strong>${title}</strong>${text}</a></li>`,
  );
  return `# The service runs

Its API is below \`/v1\`, for programs.

<ul class="choices">
${items.join('\n')}
</ul>

Operators see the health of each process at \`/readyz\` of its ops port.
`;
}

/** Returns whether a browser asks for a page to show. */
function wantsPage(request: FastifyRequest): boolean {
  return /\btext\/html\b/.test(request.headers.accept ?? '');
}

async function serveFile(
  { documentation, root, name }: Pick<DocumentationServer, 'documentation' | 'root' | 'name'>,
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
  if (found === undefined) {
    if (!wantsPage(request)) throw new MediaError('not_found', `There is no such page; ${root} lists them.`);
    const markdown = `# Page not found\n\nThe documentation has no page at this address. It may have moved: the [start page](${root}) lists all pages, and each has a search.\n`;
    return reply
      .code(404)
      .headers({ ...headersOf([]), 'Cache-Control': 'no-store', 'Content-Type': HTML })
      .send(renderPage({ markdown, name, root, path }));
  }
  const { body, etag, encoding } = bodyFor(request, found);
  reply.headers({ ...headersOf(found.scripts), ETag: etag, Vary: 'Accept-Encoding' });
  if (found.immutable) reply.header('Cache-Control', 'public, max-age=31536000, immutable');
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  reply.headers({ 'Content-Type': found.mediaType, 'Content-Length': body.length, ...encoding });
  return reply.code(200).send(request.method === 'HEAD' ? undefined : body);
}

/** Returns the body, compressed for a client that accepts gzip: pages are the same for everybody, so their length reveals nothing. */
function bodyFor(
  request: FastifyRequest,
  { body, etag, gzip }: Document,
): { readonly body: Buffer; readonly etag: string; readonly encoding: Record<string, string> } {
  const accepts = /\bgzip\b(?!;q=0(?:\.0*)?(?:,|$))/.test(request.headers['accept-encoding'] ?? '');
  const zipped = accepts ? gzip() : null;
  if (zipped === null) return { body, etag, encoding: {} };
  return { body: zipped, etag: etag.replace(/"$/, '-gzip"'), encoding: { 'Content-Encoding': 'gzip' } };
}
