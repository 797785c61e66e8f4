/**
 * The only process that connects to addresses chosen by callers: it sends webhooks, fetches `input.url` and delivers to
 * `output.url`. It decodes no files. Several instances may run.
 */
import { FILE_SETTINGS } from '#api/files/file-settings.ts';
import { openFiles } from '#api/files/open-files.ts';
import { CHANGES_CHANNEL } from '#api/store/changes-channel.ts';
import { databaseProblem } from '#api/store/database-problem.ts';
import { makeDatabase } from '#api/store/database.ts';
import { listen } from '#api/store/listen.ts';
import { makeSecretBox } from '#api/store/secret-box.ts';
import { claimDueTransfers, MAX_CONCURRENT_TRANSFERS, runTransfer } from '#api/transfers/run-transfers.ts';
import { makeTransferMetrics } from '#api/transfers/transfer-metrics.ts';
import { claimDueDeliveries, deliver, MAX_DELIVERIES } from '#api/webhooks/deliver.ts';
import { makeDeliveryMetrics } from '#api/webhooks/delivery-metrics.ts';
import { claimWaitingPings, MAX_PINGS, runPing } from '#api/webhooks/run-pings.ts';
import { beginProcess, PROCESS_SETTINGS } from '#crds/process/begin-process.ts';
import { loadConfig } from '#crds/process/config.ts';
import { opsAddress, startOpsServer } from '#crds/process/ops-server.ts';
import { systemResolve } from '#api/outbound/pinned-connector.ts';
import { announceReady } from '#crds/process/ready.ts';
import { makeSafeFetch } from '#api/outbound/safe-fetch.ts';
import { settings } from '#crds/process/settings.ts';
import { runUntilStopped } from '#crds/process/shutdown.ts';
import { trustedCertificates } from '#api/outbound/trusted-certificates.ts';
import { startPollingWorkers } from '#api/loops/polling-workers.ts';

const courierSettings = settings.pick({
  ...PROCESS_SETTINGS,
  ...FILE_SETTINGS,
  DATABASE_URL: true,
  MEDIAJOBS_PRIVATE_TARGETS: true,
  MEDIAJOBS_EXTRA_CA_FILE: true,
  MEDIAJOBS_ENCRYPTION_KEYS: true,
});

/** Interval of the polls for due work, in milliseconds. Notifications only trigger a poll earlier. */
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

const deliveries = startPollingWorkers(
  { log },
  {
    name: 'deliveries',
    concurrency: MAX_DELIVERIES,
    pollIntervalMs: POLL_MS,
    claim: (free) => claimDueDeliveries(deliverDeps, free),
    work: (delivery, signal) => deliver(deliverDeps, delivery, signal),
  },
);
const transfers = startPollingWorkers(
  { log },
  {
    name: 'transfers',
    concurrency: MAX_CONCURRENT_TRANSFERS,
    pollIntervalMs: POLL_MS,
    claim: (free) => claimDueTransfers(transferDeps, free),
    work: (transfer, signal) => runTransfer(transferDeps, transfer, signal),
  },
);
const pingDeps = { database, secretBox, safeFetch, clock, log };
const pings = startPollingWorkers(
  { log },
  {
    name: 'pings',
    concurrency: MAX_PINGS,
    pollIntervalMs: POLL_MS,
    claim: (free) => claimWaitingPings(pingDeps, free),
    work: (ping, signal) => runPing(pingDeps, ping, signal),
  },
);
const listening = new AbortController();
const listener = listen(
  { url: config.DATABASE_URL, log },
  {
    channel: CHANGES_CHANNEL,
    signal: listening.signal,
    onHint: () => {
      deliveries.wake();
      transfers.wake();
      pings.wake();
    },
  },
);

const ops = await startOpsServer({ metrics: registry, notReady: missingDependency }, opsAddress(config));
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
