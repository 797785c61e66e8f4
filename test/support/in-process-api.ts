/** The HTTP process inside a test: its real server, gates, endpoints and dashboard, with limits and timeouts of the test's own. */
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Registry } from 'prom-client';
import { afterAll } from 'vitest';
import { createKey } from '#api/accounts/create-key.ts';
import { MEDIACTL } from '#api/audit/audit.ts';
import type { ApiDeps } from '#api/http/api-deps.ts';
import { composeApi } from '#api/compose-api.ts';
import { makeEngineClient } from '#api/direct/engine-client.ts';
import { openDiskFiles } from '#api/files/disk-files.ts';
import { type ConnectionLimits } from '#api/http/connection-limits.ts';
import { CONNECTION_TIMEOUTS, type ConnectionTimeouts } from '#api/http/connection-timeouts.ts';
import { makeReceiptKeys } from '#api/receipts/receipt-keys.ts';
import { newId } from '#crds/contract/ids.ts';
import type { Tracing } from '#crds/process/tracing.ts';
import type { PlanName } from '#crds/catalogue/plans.ts';
import { systemClock } from '#crds/process/clock.ts';
import { makeLog } from '#crds/process/log.ts';
import { closeServer, listen } from '#crds/process/ops-server.ts';
import { testDatabase, type TestDatabase } from '#test/support/database.ts';
import { buildAccount } from '#test/support/job-builder.ts';
import { makeReceiverCertificates } from '#test/support/receiver-certificates.ts';
import { testRedis } from '#test/support/redis.ts';

interface Settings {
  readonly limits?: ConnectionLimits;
  readonly timeouts?: ConnectionTimeouts;
  readonly trustedProxies?: readonly string[];
  readonly privateTargets?: readonly string[];
  readonly plan?: PlanName;
  readonly tracing?: Tracing | null;
  /** Name of the installation. */
  readonly name?: string;
  readonly hidesPrices?: boolean;
}

interface InProcessApi {
  readonly deps: ApiDeps;
  readonly database: TestDatabase;
  readonly registry: Registry;
  /** `https://localhost:41234`. */
  readonly baseUrl: string;
  readonly port: number;
  /** Port for plain HTTP. */
  readonly httpPort: number;
  /** PEM. */
  readonly ca: string;
  readonly accountId: string;
  /** A live key of the account. */
  readonly key: string;
  /** Every line that was logged so far. */
  readonly logged: () => string;
}

const UNLIMITED: ConnectionLimits = { total: 10_000, perAddress: 10_000 };
const RING = [{ id: 'a', key: Buffer.alloc(32, 1) }] as const;
const PEPPERS = ['a pepper of at least 32 characters'] as const;

/** Serves on loopback until the file's tests have ended. Its engine is a port that nobody listens on. */
export async function startInProcessApi({
  limits = UNLIMITED,
  timeouts = CONNECTION_TIMEOUTS,
  trustedProxies = [],
  privateTargets = [],
  plan = 'growth',
  tracing = null,
  name = 'mediajobs',
  hidesPrices = false,
}: Settings = {}): Promise<InProcessApi> {
  const [database, { redis }] = [await testDatabase(), await testRedis()];
  const directory = await mkdtemp(path.join(tmpdir(), 'mediajobs-api-'));
  afterAll(() => rm(directory, { recursive: true, force: true }));
  const lines: string[] = [];
  const log = makeLog('api', 'debug', { write: (line: string) => void lines.push(line) });
  const registry = new Registry();
  const clock = systemClock;
  const { certificate: cert, key: certificateKey, authority: ca } = makeReceiverCertificates();
  const engine = makeEngineClient({ url: 'https://127.0.0.1:1', keys: RING });
  const {
    deps,
    httpsServer: server,
    httpServer: http,
  } = composeApi(
    {
      clock,
      log,
      tracing,
      registry,
      database,
      redis,
      files: await openDiskFiles({ clock, directory, baseUrl: 'http://127.0.0.1:1', linkKeys: RING }),
      engine,
      linkKeys: RING,
      receiptKeys: makeReceiptKeys([{ kind: 'private', bytes: Buffer.alloc(32, 2), createdAt: null, retiredAt: null }]),
      encryptionKeys: RING,
      peppers: PEPPERS,
      baseUrl: 'https://localhost',
      docsUrl: 'https://docs.test/docs',
      privateTargets,
      trustedProxies,
    },
    {
      certificate: { cert, key: certificateKey },
      connectionLimits: limits,
      timeouts,
      name,
      docsPath: '/docs',
      dashboard: {
        dashboardUrl: 'https://localhost/dashboard',
        identityProvider: null,
        grafanaUrl: null,
        hidesPrices,
        acceptsNoIsolation: false,
      },
    },
  );
  await server.listen({ host: '127.0.0.1', port: 0 });
  await listen(http, { host: '127.0.0.1', port: 0 });
  afterAll(async () => {
    server.server.closeAllConnections();
    await Promise.all([server.close(), closeServer(http)]);
    engine.close();
  });
  const { id: accountId } = await buildAccount(database, plan);
  const { keyText } = await createKey(
    { database, clock, newId, peppers: PEPPERS },
    { caller: MEDIACTL, input: { accountId, mode: 'live', name: 'test', allowList: [] } },
  );
  const port = portOf(server.server);
  return {
    deps,
    database,
    registry,
    baseUrl: `https://localhost:${port}`,
    port,
    httpPort: portOf(http),
    ca,
    accountId,
    key: keyText,
    logged: () => lines.join(''),
  };
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
