/**
 * The only process that connects to addresses chosen by callers: it sends webhooks, fetches `input.url` and uploads to
 * `output.url`. It decodes no files. Several instances may run.
 */
import { COURIER_SETTINGS } from '#api/entry-settings.ts';
import { openFiles } from '#api/files/open-files.ts';
import { COURIER_CHANNEL, type CourierQueue } from '#api/store/changes-channel.ts';
import { databaseProblem } from '#api/store/database-problem.ts';
import { makeDatabase } from '#api/store/database.ts';
import { listen } from '#api/store/listen.ts';
import { makeSecretBox } from '#api/store/secret-box.ts';
import { claimDueTransfers, MAX_CONCURRENT_TRANSFERS, runTransfer } from '#api/transfers/run-transfers.ts';
import { makeTransferMetrics } from '#api/transfers/transfer-metrics.ts';
import { claimDueDeliveries, deliver, MAX_DELIVERIES } from '#api/webhooks/deliver.ts';
import { makeDeliveryMetrics } from '#api/webhooks/delivery-metrics.ts';
import { claimWaitingPings, MAX_PINGS, runPing } from '#api/webhooks/run-pings.ts';
import { beginProcess } from '#crds/process/begin-process.ts';
import { loadConfig } from '#crds/process/config.ts';
import { opsAddress, startOpsServer } from '#crds/process/ops-server.ts';
import { systemResolve } from '#api/outbound/pinned-connector.ts';
import { announceReady } from '#crds/process/ready.ts';
import { makeSafeFetch } from '#api/outbound/safe-fetch.ts';
import { settings } from '#crds/process/settings.ts';
import { runUntilStopped } from '#crds/process/shutdown.ts';
import { startTracing } from '#crds/process/start-tracing.ts';
import { trustedCertificates } from '#api/outbound/trusted-certificates.ts';
import type { Loop } from '#api/loops/loop.ts';
import { startPollingWorkers } from '#api/loops/polling-workers.ts';

/** Interval of the polls for due work, in milliseconds. Notifications only trigger a poll earlier. */
const POLL_MS = 1000;

const config = loadConfig(settings.pick(COURIER_SETTINGS), process.env);
const { log, clock, registry } = beginProcess('courier', config);
const tracing = await startTracing({ log }, 'courier', config);
const database = makeDatabase({ url: config.DATABASE_URL, log, maxConnections: 10 });
const secretBox = makeSecretBox(config.MEDIAJOBS_ENCRYPTION_KEYS);
const { files, problem: filesProblem, close: closeFiles } = await openFiles({ clock }, config);
const safeFetch = makeSafeFetch({
  resolve: systemResolve,
  privateTargets: config.MEDIAJOBS_PRIVATE_TARGETS,
  secureContext: await trustedCertificates(config.MEDIAJOBS_EXTRA_CA_FILE ?? null),
});

const deps = { database, files, secretBox, safeFetch, clock, log, tracing };
const deliverDeps = { ...deps, metrics: makeDeliveryMetrics(deps, registry) };
const transferDeps = { ...deps, metrics: makeTransferMetrics(deps, registry) };
const workers = {
  deliveries: startPollingWorkers(deps, {
    name: 'deliveries',
    concurrency: MAX_DELIVERIES,
    pollIntervalMs: POLL_MS,
    claim: (free) => claimDueDeliveries(deliverDeps, free),
    work: (delivery, signal) => deliver(deliverDeps, delivery, signal),
  }),
  transfers: startPollingWorkers(deps, {
    name: 'transfers',
    concurrency: MAX_CONCURRENT_TRANSFERS,
    pollIntervalMs: POLL_MS,
    claim: (free) => claimDueTransfers(transferDeps, free),
    work: (transfer, signal) => runTransfer(transferDeps, transfer, signal),
  }),
  pings: startPollingWorkers(deps, {
    name: 'pings',
    concurrency: MAX_PINGS,
    pollIntervalMs: POLL_MS,
    claim: (free) => claimWaitingPings(deps, free),
    work: (ping, signal) => runPing(deps, ping, signal),
  }),
} satisfies Record<CourierQueue, Loop>;
const listening = new AbortController();
const listener = listen(
  { url: config.DATABASE_URL, log },
  {
    channel: COURIER_CHANNEL,
    signal: listening.signal,
    onNotification: (queue) => {
      for (const [name, worker] of Object.entries(workers)) if (queue === name || queue === '') worker.wake();
    },
  },
);

const ops = await startOpsServer({ metrics: registry, notReady: missingDependency }, opsAddress(config));
runUntilStopped({ log }, async () => {
  listening.abort();
  await Promise.all([listener, ...Object.values(workers).map((worker) => worker.stop()), ops.close()]);
  closeFiles();
  await Promise.all([database.close(), tracing?.close()]);
});
log.info({ ops_port: ops.port }, 'courier started');
announceReady();

async function missingDependency(): Promise<string | null> {
  return (await databaseProblem(database)) ?? filesProblem();
}
