import type { FastifyServerOptions } from 'fastify';

/** Maximum length of a path parameter: longer than any request line, so that every id reaches its endpoint. */
const MAX_PARAMETER = 20_000;

/** Options of the HTTPS server that depend on nothing. */
export const FASTIFY_OPTIONS = {
  logger: false,
  requestIdHeader: false,
  routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAMETER },
  exposeHeadRoutes: false,
  forceCloseConnections: 'idle',
  // Requests on open connections are served during shutdown, and their responses close the connection.
  return503OnClosing: false,
  // Fastify's own compilers load 117 modules when a server is made. Routes have no schemas of Fastify: endpoints parse
  // their input and write their replies themselves.
  schemaController: { compilersFactory: { buildValidator: refuseSchemas, buildSerializer: refuseSchemas } },
} as const satisfies FastifyServerOptions;

function refuseSchemas(): never {
  throw new Error('routes have no schemas of Fastify');
}
