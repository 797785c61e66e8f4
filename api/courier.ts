/**
 * The only process that talks to addresses which callers chose: it sends webhooks, fetches `input.url`
 * and delivers to `output.url`. It opens no file format. Several may run.
 */
import { FILE_SETTINGS } from '#api/files/file-settings.ts';
import { openFiles } from '#api/files/open-files.ts';
import { JOBS_CHANNEL } from '#api/jobs/jobs-channel.ts';
import { databaseProblem } from '#api/store/database-problem.ts';
import { makeDatabase } from '#api/store/database.ts';
import { listen } from '#api/store/listen.ts';
import { makeSecretBox } from '#api/store/secret-box.ts';
import { AT_ONCE as TRANSFERS_AT_ONCE, claimDueTransfers, runTransfer } from '#api/transfers/run-transfers.ts';
import { makeTransferMetrics } from '#api/transfers/transfer-metrics.ts';
import { AT_ONCE as DELIVERIES_AT_ONCE, claimDueDeliveries, deliver } from '#api/webhooks/deliver.ts';
import { makeDeliveryMetrics } from '#api/webhooks/delivery-metrics.ts';
import { AT_ONCE as PINGS_AT_ONCE, runPing, takeWaitingPings } from '#api/webhooks/run-pings.ts';
import { beginProcess, PROCESS_SETTINGS } from '#crds/shared/begin-process.ts';
import { loadConfig } from '#crds/shared/config.ts';
import { startOpsServer } from '#crds/shared/ops-server.ts';
import { systemResolve } from '#crds/shared/pinned-connector.ts';
import { announceReady } from '#crds/shared/ready.ts';
import { makeSafeFetch } from '#crds/shared/safe-fetch.ts';
import { settings } from '#crds/shared/settings.ts';
import { runUntilStopped } from '#crds/shared/shutdown.ts';
import { trustedCertificates } from '#crds/shared/trusted-certificates.ts';
import { startWorkPlaces } from '#crds/shared/work-places.ts';

const courierSettings = settings.pick({
  ...PROCESS_SETTINGS,
  ...FILE_SETTINGS,
  DATABASE_URL: true,
  MEDIAJOBS_PRIVATE_TARGETS: true,
  MEDIAJOBS_EXTRA_CA_FILE: true,
  MEDIAJOBS_ENCRYPTION_KEYS: true,
});

/** The poll is the truth; notifications only make it sooner. */
const POLL_MS = 1000;

const config = loadConfig(courierSettings, process.env);
const { log, clock, registry } = beginProcess('courier', config);
const database = makeDatabase({ url: config.DATABASE_URL, log, maxConnections: 10 });
const secretBox = makeSecretBox(config.MEDIAJOBS_ENCRYPTION_KEYS);
const { files, problem: filesProblem, close: closeFiles } = await openFiles({ clock }, config);
const safeFetch = makeSafeFetch({
  resolve: systemResolve,
  privateTargets: config.MEDIAJOBS_PRIVATE_TARGETS,
  secureContext: await trustedCertificates(config.MEDIAJOBS_EXTRA_CA_FILE ?? null),
});

const deliverDeps = {
  database,
  secretBox,
  safeFetch,
  clock,
  log,
  metrics: makeDeliveryMetrics({ database, clock }, registry),
};
const transferDeps = {
  database,
  files,
  secretBox,
  safeFetch,
  clock,
  log,
  metrics: makeTransferMetrics({ database, clock }, registry),
};

const deliveries = startWorkPlaces(
  { log },
  {
    name: 'deliveries',
    atOnce: DELIVERIES_AT_ONCE,
    everyMs: POLL_MS,
    claim: (free) => claimDueDeliveries(deliverDeps, free),
    work: (delivery, signal) => deliver(deliverDeps, delivery, signal),
  },
);
const transfers = startWorkPlaces(
  { log },
  {
    name: 'transfers',
    atOnce: TRANSFERS_AT_ONCE,
    everyMs: POLL_MS,
    claim: (free) => claimDueTransfers(transferDeps, free),
    work: (transfer, signal) => runTransfer(transferDeps, transfer, signal),
  },
);
const pingDeps = { database, secretBox, safeFetch, clock, log };
const pings = startWorkPlaces(
  { log },
  {
    name: 'pings',
    atOnce: PINGS_AT_ONCE,
    everyMs: POLL_MS,
    claim: (free) => takeWaitingPings(pingDeps, free),
    work: (ping, signal) => runPing(pingDeps, ping, signal),
  },
);
const listening = new AbortController();
const listener = listen(
  { url: config.DATABASE_URL, log },
  {
    channel: JOBS_CHANNEL,
    signal: listening.signal,
    onHint: () => {
      deliveries.wake();
      transfers.wake();
      pings.wake();
    },
  },
);

const ops = await startOpsServer(
  { metrics: registry, notReady: missingDependency },
  { host: config.MEDIAJOBS_OPS_HOST, port: config.MEDIAJOBS_OPS_PORT },
);
runUntilStopped({ log }, async () => {
  listening.abort();
  await Promise.all([listener, deliveries.stop(), transfers.stop(), pings.stop(), ops.close()]);
  closeFiles();
  await database.close();
});
log.info({ ops_port: ops.port }, 'courier started');
announceReady();

async function missingDependency(): Promise<string | null> {
  return (await databaseProblem(database)) ?? filesProblem();
}
