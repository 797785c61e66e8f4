/**
 * The HTTP process: HTTPS and plain http ports, and the internal socket of a file store on disk. Several instances may
 * run.
 */
import type { Server as HttpsServer } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { composeApi } from '#api/compose-api.ts';
import { dashboardSettings } from '#api/dashboard/dashboard-settings.ts';
import { makeEngineClient } from '#api/direct/engine-client.ts';
import { API_SETTINGS } from '#api/entry-settings.ts';
import { startFileServer } from '#api/files/file-server.ts';
import { openFiles } from '#api/files/open-files.ts';
import { readCertificate, renewCertificate } from '#api/http/renew-certificate.ts';
import { connectRedis } from '#api/limits/connect-redis.ts';
import { makeReceiptKeys } from '#api/receipts/receipt-keys.ts';
import { databaseProblem } from '#api/store/database-problem.ts';
import { makeDatabase } from '#api/store/database.ts';
import { PLANS } from '#crds/catalogue/plans.ts';
import { beginProcess } from '#crds/process/begin-process.ts';
import { loadConfig } from '#crds/process/config.ts';
import { endConnectionsAtClose } from '#crds/process/end-connections.ts';
import { closeServer, listen, opsAddress, startOpsServer } from '#crds/process/ops-server.ts';
import { allowHeapGrowth } from '#crds/process/heap-growth.ts';
import { announceReady } from '#crds/process/ready.ts';
import { settings } from '#crds/process/settings.ts';
import { runUntilStopped } from '#crds/process/shutdown.ts';
import { startTracing } from '#crds/process/start-tracing.ts';

const config = loadConfig(settings.pick(API_SETTINGS), process.env);
const { log, clock, registry } = beginProcess('api', config);
const tracing = await startTracing({ log }, 'api', config);
const database = makeDatabase({ url: config.DATABASE_URL, log, maxConnections: 16 });
const redis = connectRedis(config.REDIS_URL);
// Readiness needs one connection to Redis: without any, REDIS_URL is probably wrong. Processes tolerate later failures.
let redisProblem: string | null = 'no connection yet';
redis.once('ready', () => (redisProblem = null));
redis.on('error', ({ message }) => {
  if (redisProblem !== null) redisProblem = message;
});
const linkKeys = config.MEDIAJOBS_LINK_KEYS;
const { files, servedAt, problem: filesProblem, close: closeFiles } = await openFiles({ clock }, config);
const engine = makeEngineClient({ url: config.MEDIAJOBS_ENGINE_URL, keys: config.MEDIAJOBS_ENGINE_KEYS });
const certificateFiles = { certFile: config.MEDIAJOBS_TLS_CERT_FILE, keyFile: config.MEDIAJOBS_TLS_KEY_FILE };
const certificate = await readCertificate(certificateFiles);
const { httpsServer, httpServer } = composeApi(
  {
    clock,
    log,
    tracing,
    registry,
    database,
    redis,
    files,
    engine,
    linkKeys,
    receiptKeys: makeReceiptKeys(config.MEDIAJOBS_RECEIPT_KEYS),
    encryptionKeys: config.MEDIAJOBS_ENCRYPTION_KEYS,
    peppers: config.MEDIAJOBS_KEY_PEPPER,
    baseUrl: config.MEDIAJOBS_BASE_URL,
    docsUrl: config.MEDIAJOBS_DOCS_URL ?? `${config.MEDIAJOBS_BASE_URL}/docs`,
    privateTargets: config.MEDIAJOBS_PRIVATE_TARGETS,
    trustedProxies: config.MEDIAJOBS_TRUSTED_PROXIES,
  },
  {
    certificate,
    connectionLimits: {
      total: config.MEDIAJOBS_CONNECTIONS,
      perAddress: config.MEDIAJOBS_CONNECTIONS_PER_ADDRESS,
    },
    name: config.MEDIAJOBS_NAME,
    docsPath: new URL(`${config.MEDIAJOBS_BASE_URL}/docs`).pathname,
    dashboard: dashboardSettings(config),
  },
);
const endConnections = [httpsServer.server, httpServer].map(endConnectionsAtClose);
const host = config.MEDIAJOBS_LISTEN_HOST;
await httpsServer.listen({ host, port: config.MEDIAJOBS_HTTPS_PORT });
const renewal = renewCertificate({ server: httpsServer.server as HttpsServer, log }, certificateFiles, {
  first: certificate,
});
await listen(httpServer, { host, port: config.MEDIAJOBS_HTTP_PORT });
const fileServer =
  servedAt === null
    ? null
    : await startFileServer(
        { files, linkKeys, clock, log, maxBytes: 2 * PLANS.enterprise.maxAsyncBytes },
        { socket: servedAt },
      );
const ops = await startOpsServer({ metrics: registry, notReady: () => missingDependency() }, opsAddress(config));
allowHeapGrowth();
announceReady();
void engine.connect();
log.info({ https_port: config.MEDIAJOBS_HTTPS_PORT, http_port: config.MEDIAJOBS_HTTP_PORT }, 'serving');

runUntilStopped({ log }, async () => {
  for (const end of endConnections) end();
  await delay(config.MEDIAJOBS_STOP_DELAY_SECONDS * 1000);
  await Promise.all([httpsServer.close(), renewal.stop()]);
  await Promise.all([closeServer(httpServer), fileServer?.close(), ops.close()]);
  engine.close();
  redis.disconnect();
  closeFiles();
  await Promise.all([database.close(), tracing?.close()]);
});

async function missingDependency(): Promise<string | null> {
  const problem = await databaseProblem(database);
  if (problem !== null) return problem;
  if (redisProblem !== null)
    return `Redis at REDIS_URL does not answer (${redisProblem}); check that it runs and that the address is right.`;
  return filesProblem();
}
