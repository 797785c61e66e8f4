/** The HTTP process: HTTPS and plain http ports, and the internal port of a file store on disk. Many may run. */
import { randomUUID } from 'node:crypto';
import type { Server as HttpsServer } from 'node:https';
import { findCaller } from '#api/accounts/find-caller.ts';
import type { ApiDeps } from '#api/api-deps.ts';
import { dashboardSettings } from '#api/dashboard/dashboard-settings.ts';
import { ROUTES } from '#api/dashboard/routes.ts';
import { serveDashboard } from '#api/dashboard/serve-dashboard.ts';
import { makeEngineClient } from '#api/direct/engine-client.ts';
import { loadDocumentation } from '#api/docs/documentation.ts';
import { serveDocumentation } from '#api/docs/serve-documentation.ts';
import { ENDPOINTS } from '#api/endpoints.ts';
import { startFileServer } from '#api/files/file-server.ts';
import { FILE_SETTINGS } from '#api/files/file-settings.ts';
import { openFiles } from '#api/files/open-files.ts';
import { makeHttpPort } from '#api/http/http-port.ts';
import { makeApiMetrics } from '#api/http/metrics.ts';
import { readCertificate, renewCertificate } from '#api/http/renew-certificate.ts';
import { makeServer } from '#api/http/server.ts';
import { connectRedis } from '#api/limits/connect-redis.ts';
import { makeLimits } from '#api/limits/limits.ts';
import { makeReceiptKeys } from '#api/receipts/receipt-keys.ts';
import { loadSamples } from '#api/samples/samples.ts';
import { databaseProblem } from '#api/store/database-problem.ts';
import { makeDatabase } from '#api/store/database.ts';
import { makeSecretBox } from '#api/store/secret-box.ts';
import { newId } from '#crds/ids.ts';
import { PLANS } from '#crds/plans.ts';
import { beginProcess, PROCESS_SETTINGS } from '#crds/shared/begin-process.ts';
import { loadConfig } from '#crds/shared/config.ts';
import { closeServer, listen, startOpsServer } from '#crds/shared/ops-server.ts';
import { announceReady } from '#crds/shared/ready.ts';
import { settings } from '#crds/shared/settings.ts';
import { runUntilStopped } from '#crds/shared/shutdown.ts';

const apiSettings = settings.pick({
  ...PROCESS_SETTINGS,
  ...FILE_SETTINGS,
  DATABASE_URL: true,
  REDIS_URL: true,
  MEDIAJOBS_BASE_URL: true,
  MEDIAJOBS_DOCS_URL: true,
  MEDIAJOBS_DASHBOARD_URL: true,
  MEDIAJOBS_GRAFANA_URL: true,
  MEDIAJOBS_OIDC_ISSUER: true,
  MEDIAJOBS_OIDC_CLIENT_ID: true,
  MEDIAJOBS_OIDC_CLIENT_SECRET: true,
  MEDIAJOBS_LISTEN_HOST: true,
  MEDIAJOBS_HTTPS_PORT: true,
  MEDIAJOBS_HTTP_PORT: true,
  MEDIAJOBS_TLS_CERT_FILE: true,
  MEDIAJOBS_TLS_KEY_FILE: true,
  MEDIAJOBS_TRUSTED_PROXIES: true,
  MEDIAJOBS_PRIVATE_TARGETS: true,
  MEDIAJOBS_KEY_PEPPER: true,
  MEDIAJOBS_ENCRYPTION_KEYS: true,
  MEDIAJOBS_RECEIPT_KEYS: true,
  MEDIAJOBS_ENGINE_URL: true,
});

const config = loadConfig(apiSettings, process.env);
const { log, clock, registry } = beginProcess('api', config);
const database = makeDatabase({ url: config.DATABASE_URL, log, maxConnections: 16 });
const redis = connectRedis(config.REDIS_URL);
// Later on each process bridges the time without Redis; one that has never reached it has a wrong address.
let redisProblem: string | null = 'no connection yet';
redis.once('ready', () => (redisProblem = null));
redis.on('error', ({ message }) => {
  if (redisProblem !== null) redisProblem = message;
});
const metrics = makeApiMetrics(registry);
const linkKeys = config.MEDIAJOBS_LINK_KEYS;
const { files, servedAt, problem: filesProblem, close: closeFiles } = await openFiles({ clock }, config);
const engine = makeEngineClient(config.MEDIAJOBS_ENGINE_URL);
const peppers = config.MEDIAJOBS_KEY_PEPPER;
const docsUrl = config.MEDIAJOBS_DOCS_URL ?? `${config.MEDIAJOBS_BASE_URL}/docs`;
const trustedProxies = config.MEDIAJOBS_TRUSTED_PROXIES;

const deps: ApiDeps = {
  clock,
  newId,
  log,
  metrics,
  database,
  files,
  secretBox: makeSecretBox(config.MEDIAJOBS_ENCRYPTION_KEYS),
  linkKeys,
  receiptKeys: makeReceiptKeys(config.MEDIAJOBS_RECEIPT_KEYS),
  limits: makeLimits({ redis, clock, log, newLease: randomUUID }),
  engine,
  samples: loadSamples(),
  baseUrl: config.MEDIAJOBS_BASE_URL,
  docsUrl,
  privateTargets: config.MEDIAJOBS_PRIVATE_TARGETS,
  trustedProxies,
  findCaller: (authorization) => findCaller({ database, clock, log, peppers }, authorization),
};

const certificateFiles = { certFile: config.MEDIAJOBS_TLS_CERT_FILE, keyFile: config.MEDIAJOBS_TLS_KEY_FILE };
const certificate = await readCertificate(certificateFiles);
const host = config.MEDIAJOBS_LISTEN_HOST;
const server = makeServer(deps, ENDPOINTS, certificate);
serveDocumentation(server, loadDocumentation(new URL(`${config.MEDIAJOBS_BASE_URL}/docs`).pathname));
const dashboard = dashboardSettings(config);
if (dashboard !== null) serveDashboard(server, { ...deps, peppers, ...dashboard }, ROUTES);
await server.listen({ host, port: config.MEDIAJOBS_HTTPS_PORT });
const renewal = renewCertificate({ server: server.server as HttpsServer, log }, certificateFiles, {
  first: certificate,
});
const httpPort = makeHttpPort({
  database,
  clock,
  newId,
  log,
  peppers,
  docsUrl,
  trustedProxies,
  serveHttps: (request, response) => server.routing(request, response),
});
await listen(httpPort, { host, port: config.MEDIAJOBS_HTTP_PORT });
const fileServer =
  servedAt === null
    ? null
    : await startFileServer(
        { files, linkKeys, clock, log, maxBytes: 2 * PLANS.enterprise.maxAsyncBytes },
        { host: servedAt.hostname, port: Number(servedAt.port) },
      );
const ops = await startOpsServer(
  { metrics: registry, notReady: () => missingDependency() },
  { host: config.MEDIAJOBS_OPS_HOST, port: config.MEDIAJOBS_OPS_PORT },
);
announceReady();
log.info({ https_port: config.MEDIAJOBS_HTTPS_PORT, http_port: config.MEDIAJOBS_HTTP_PORT }, 'serving');

runUntilStopped({ log }, async () => {
  await Promise.all([server.close(), renewal.stop()]);
  await Promise.all([closeServer(httpPort), fileServer?.close(), ops.close()]);
  engine.close();
  redis.disconnect();
  closeFiles();
  await database.close();
});

async function missingDependency(): Promise<string | null> {
  const problem = await databaseProblem(database);
  if (problem !== null) return problem;
  if (redisProblem !== null)
    return `Redis at REDIS_URL does not answer (${redisProblem}); check that it runs and that the address is right.`;
  return filesProblem();
}
