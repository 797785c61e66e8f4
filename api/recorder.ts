/**
 * The recorder in a cluster: creates MediaJobs for queued rows, records their outcomes in PostgreSQL and cleans up.
 * Several instances may run; only the holder of the Lease is active.
 */
import { RECORDER_SETTINGS } from '#api/entry-settings.ts';
import { openFiles } from '#api/files/open-files.ts';
import { RECORDER_ACCESS } from '#api/recorder/cluster-access.ts';
import { makeDescribeInput, makeGrantTransfer } from '#api/recorder/grant-transfer.ts';
import { serveTransfers } from '#api/recorder/serve-transfers.ts';
import { startRecorder } from '#api/recorder/start-recorder.ts';
import { databaseProblem } from '#api/store/database-problem.ts';
import { makeDatabase } from '#api/store/database.ts';
import { connect } from '#crds/kube/connection.ts';
import { makeKubeMetrics } from '#crds/kube/kube-metrics.ts';
import { systemTime } from '#crds/kube/time.ts';
import type { MediaJobClient } from '#crds/media-jobs/media-job-client.ts';
import { LEADER_SETTINGS, startMediaJobLeader, workNamespace } from '#crds/media-jobs/media-job-leader.ts';
import { beginProcess } from '#crds/process/begin-process.ts';
import { loadConfig } from '#crds/process/config.ts';
import { opsAddress, startOpsServer } from '#crds/process/ops-server.ts';
import { announceReady } from '#crds/process/ready.ts';
import { settings } from '#crds/process/settings.ts';
import { runUntilStopped } from '#crds/process/shutdown.ts';
import { startTracing } from '#crds/process/start-tracing.ts';

const recorderSettings = settings
  .pick({
    ...RECORDER_SETTINGS,
    ...LEADER_SETTINGS,
    MEDIAJOBS_HEARTBEAT_KEY: true,
    MEDIAJOBS_TRANSFER_HOST: true,
    MEDIAJOBS_TRANSFER_PORT: true,
  })
  .required({ MEDIAJOBS_HEARTBEAT_KEY: true });

/** Time for which finished MediaJobs are kept for inspection, in seconds. */
const KEEP_FINISHED_SECONDS = 300;

const config = loadConfig(recorderSettings, process.env);
const { log, clock, registry } = beginProcess('recorder', config);
const tracing = await startTracing({ log }, 'recorder', config);
const time = { ...systemTime, now: () => clock.now() };
const connection = connect(config.KUBECONFIG ?? null, 'mediajobs-recorder');
const database = makeDatabase({ url: config.DATABASE_URL, log, maxConnections: 12 });
const { files, problem: filesProblem, close: closeFiles } = await openFiles({ clock }, config);

const leader = startMediaJobLeader(
  { connection, time, log, metrics: makeKubeMetrics(registry) },
  { name: 'recorder', config, access: RECORDER_ACCESS, work },
);
const transfers = await serveTransfers(
  { grant: makeGrantTransfer({ database, files }), describe: makeDescribeInput({ database }), log },
  {
    address: { host: config.MEDIAJOBS_TRANSFER_HOST, port: config.MEDIAJOBS_TRANSFER_PORT },
    key: config.MEDIAJOBS_HEARTBEAT_KEY,
  },
);
const ops = await startOpsServer({ metrics: registry, notReady, notAlive: leader.notAlive }, opsAddress(config));
announceReady();
log.info({ namespace: workNamespace(connection, config), ops_port: ops.port }, 'recorder started');

runUntilStopped({ log }, async () => {
  await leader.stop();
  await Promise.all([transfers.close(), ops.close()]);
  closeFiles();
  await Promise.all([connection.close(), database.close(), tracing?.close()]);
});

function work({ mediaJobs }: { mediaJobs: MediaJobClient }): { stop: () => Promise<void> } {
  const heartbeatKey = config.MEDIAJOBS_HEARTBEAT_KEY;
  const keepFinishedSeconds = KEEP_FINISHED_SECONDS;
  return startRecorder(
    { database, files, clock, log, tracing, registry, mediaJobs, heartbeatKey, keepFinishedSeconds },
    config,
  );
}

async function notReady(): Promise<string | null> {
  return (await databaseProblem(database)) ?? (await filesProblem()) ?? leader.notReady();
}
