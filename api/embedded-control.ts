/**
 * Recorder and controller in one process, for a machine without Kubernetes. MediaJobs are kept in memory, and runs are
 * child processes of the process `runs`. When either process exits, MediaJobs and runs are lost; the restarted
 * processes recreate them from PostgreSQL.
 */
import { randomBytes } from 'node:crypto';
import { CONTROL_SETTINGS } from '#api/entry-settings.ts';
import { openFiles } from '#api/files/open-files.ts';
import { revertAttempt } from '#api/jobs/job-progress-rows.ts';
import { makeGrantTransfer } from '#api/recorder/grant-transfer.ts';
import { startRecorder } from '#api/recorder/start-recorder.ts';
import { makeDatabase } from '#api/store/database.ts';
import { connectRuns } from '#controller/connect-runs.ts';
import { startController } from '#controller/controller.ts';
import { serveWorkerPort } from '#controller/worker-port-server.ts';
import { makeControllerMetrics } from '#controller/metrics.ts';
import { isUnfinishedRun } from '#controller/runs.ts';
import { LOCAL_TIMING } from '#controller/timing.ts';
import { nameWord } from '#crds/contract/ids.ts';
import { systemTime } from '#crds/kube/time.ts';
import { MemoryMediaJobs } from '#crds/media-jobs/memory-media-jobs.ts';
import { jobIdOfName } from '#crds/contract/names.ts';
import { beginProcess } from '#crds/process/begin-process.ts';
import { loadConfig } from '#crds/process/config.ts';
import { opsAddress, startOpsServer } from '#crds/process/ops-server.ts';
import { announceReady } from '#crds/process/ready.ts';
import { settings } from '#crds/process/settings.ts';
import { runUntilStopped } from '#crds/process/shutdown.ts';
import { startTracing } from '#crds/process/start-tracing.ts';

const controlSettings = settings
  .pick(CONTROL_SETTINGS)
  .required({ MEDIAJOBS_RUNS_SOCKET: true, MEDIAJOBS_HEARTBEAT_SOCKET: true });

/** Time for which finished MediaJobs are kept for inspection, in seconds; short, because they occupy memory. */
const KEEP_FINISHED_SECONDS = 60;

const config = loadConfig(controlSettings, process.env);
const { log, clock, registry } = beginProcess('control', config);
const tracing = await startTracing({ log }, 'control', config);
const isolationWarning =
  config.MEDIAJOBS_ISOLATION === 'none'
    ? 'files are processed even without isolation (MEDIAJOBS_ISOLATION=none)'
    : null;
if (isolationWarning !== null) log.warn(isolationWarning);

const database = makeDatabase({ url: config.DATABASE_URL, log, maxConnections: 12 });
const { files, close: closeFiles } = await openFiles({ clock }, config);
const mediaJobs = new MemoryMediaJobs({
  clock,
  newUid: () => nameWord(20),
  onWatcherError: (error) => log.error({ err: error }, 'a MediaJob watcher failed'),
});
const heartbeatKey = randomBytes(32);
const heartbeats = await serveWorkerPort(
  { clock, log, mediaJobs, grantTransfer: makeGrantTransfer({ database, files }) },
  { address: { socket: config.MEDIAJOBS_HEARTBEAT_SOCKET }, key: heartbeatKey },
);
const runs = await connectRuns(config.MEDIAJOBS_RUNS_SOCKET);
const controller = startController({
  mediaJobs,
  runs,
  heartbeats,
  clock,
  time: systemTime,
  log,
  tracing,
  metrics: makeControllerMetrics(registry),
  timing: LOCAL_TIMING,
});
const recorder = startRecorder(
  {
    database,
    files,
    clock,
    log,
    tracing,
    registry,
    mediaJobs,
    heartbeatKey,
    keepFinishedSeconds: KEEP_FINISHED_SECONDS,
  },
  config,
);
const ops = await startOpsServer(
  { metrics: registry, notReady: () => null, warning: isolationWarning },
  opsAddress(config),
);
announceReady();
log.info('control started');

let stopping = false;
void runs.ended.then(() => {
  if (stopping) return;
  log.error('the process `runs` ended; restarting');
  process.exit(1);
});

runUntilStopped({ log }, async () => {
  stopping = true;
  await recorder.stop();
  await controller.stop();
  const interrupted = (await runs.list()).filter(isUnfinishedRun);
  await runs.close();
  for (const { owner, attempt } of interrupted) await revertAttempt(database, { id: jobIdOfName(owner.name), attempt });
  await Promise.all([heartbeats.close(), ops.close()]);
  closeFiles();
  await Promise.all([database.close(), tracing?.close()]);
});
