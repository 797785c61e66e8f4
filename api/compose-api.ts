/** Composition of the HTTP process: dependencies of its endpoints, and the HTTPS and plain http servers around them. */
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Redis } from 'ioredis';
import type { Registry } from 'prom-client';
import type { Peppers } from '#api/accounts/api-key.ts';
import { findCaller } from '#api/accounts/find-caller.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { ROUTES } from '#api/dashboard/routes.ts';
import { serveDashboard } from '#api/dashboard/serve-dashboard.ts';
import { loadDocumentation } from '#api/docs/documentation.ts';
import { serveDocumentation } from '#api/docs/serve-documentation.ts';
import type { ApiDeps } from '#api/http/api-deps.ts';
import { makeConnectionLimits, type ConnectionLimits } from '#api/http/connection-limits.ts';
import { CONNECTION_TIMEOUTS, type ConnectionTimeouts } from '#api/http/connection-timeouts.ts';
import { ENDPOINTS } from '#api/http/endpoints.ts';
import { makeHttpPort } from '#api/http/http-port.ts';
import { makeApiMetrics } from '#api/http/metrics.ts';
import type { Certificate } from '#api/http/renew-certificate.ts';
import { makeServer } from '#api/http/server.ts';
import { makeLimits } from '#api/limits/limits.ts';
import { loadSamples } from '#api/samples/samples.ts';
import { makeSecretBox } from '#api/store/secret-box.ts';
import { newId } from '#crds/contract/ids.ts';
import type { RingKey } from '#crds/process/ring-key.ts';

type GivenDeps = Omit<ApiDeps, 'newId' | 'metrics' | 'secretBox' | 'limits' | 'samples' | 'findCaller'>;

interface ApiParts extends GivenDeps {
  readonly registry: Registry;
  readonly redis: Redis;
  readonly encryptionKeys: readonly RingKey[];
  readonly peppers: Peppers;
}

interface ServerOptions {
  readonly certificate: Certificate;
  readonly connectionLimits: ConnectionLimits;
  readonly timeouts?: ConnectionTimeouts;
  /** Name of the installation. */
  readonly name: string;
  /** Path of the documentation, such as `/docs`. */
  readonly docsPath: string;
  /** Dependencies of the dashboard; null when it is switched off. */
  readonly dashboard: Omit<DashboardDeps, keyof ApiDeps | 'peppers' | 'name'> | null;
}

interface ComposedApi {
  readonly deps: ApiDeps;
  readonly httpsServer: FastifyInstance;
  readonly httpServer: Server;
}

/** Returns the dependencies and both servers, which do not listen yet and share the connection limits. */
export function composeApi(
  { registry, redis, encryptionKeys, peppers, ...given }: ApiParts,
  { certificate, connectionLimits, timeouts = CONNECTION_TIMEOUTS, name, docsPath, dashboard }: ServerOptions,
): ComposedApi {
  const { clock, log, database } = given;
  const deps: ApiDeps = {
    ...given,
    newId,
    metrics: makeApiMetrics(registry),
    secretBox: makeSecretBox(encryptionKeys),
    limits: makeLimits({ redis, clock, log, newLease: randomUUID }),
    samples: loadSamples(),
    findCaller: (request) => findCaller({ database, clock, log, peppers }, request),
  };
  const httpsServer = makeServer(deps, ENDPOINTS, certificate, timeouts);
  serveDocumentation(httpsServer, {
    documentation: loadDocumentation({ root: docsPath, name }),
    root: docsPath,
    name,
    docsUrl: deps.docsUrl,
    dashboardUrl: dashboard?.dashboardUrl ?? null,
  });
  if (dashboard !== null) serveDashboard(httpsServer, { ...deps, peppers, name, ...dashboard }, ROUTES);
  const serveHttps = (...[request, response]: Parameters<FastifyInstance['routing']>): void =>
    httpsServer.routing(request, response);
  const httpServer = makeHttpPort({ ...deps, peppers, serveHttps }, timeouts);
  const limitConnections = makeConnectionLimits(deps, connectionLimits);
  limitConnections(httpsServer.server);
  limitConnections(httpServer);
  return { deps, httpsServer, httpServer };
}
