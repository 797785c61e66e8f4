/**
 * Recorder and controller of a machine without Kubernetes in one process, around MediaJobs in memory
 * and runs that are child processes. When it dies its MediaJobs and runs die with it; the next one makes
 * them again from PostgreSQL.
 */
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FILE_SETTINGS } from '#api/files/file-settings.ts';
import { openFiles } from '#api/files/open-files.ts';
import { forgiveAttempt } from '#api/jobs/job-progress-rows.ts';
import { startRecorder } from '#api/jobs/record-jobs.ts';
import { makeDatabase } from '#api/store/database.ts';
import { makeSecretBox } from '#api/store/secret-box.ts';
import { startController } from '#controller/controller.ts';
import { startHeartbeats } from '#controller/heartbeats.ts';
import { makeLocalRuns } from '#controller/local-runs.ts';
import { makeControllerMetrics } from '#controller/metrics.ts';
import { isUnderWay } from '#controller/runs.ts';
import { LOCAL_TIMING } from '#controller/timing.ts';
import { nameWord, newId } from '#crds/ids.ts';
import { makeQueueMetrics } from '#crds/kube/queue-metrics.ts';
import { systemTime } from '#crds/kube/time.ts';
import { makeMemoryMediaJobs } from '#crds/memory-media-jobs.ts';
import { jobIdOfName } from '#crds/names.ts';
import { beginProcess, PROCESS_SETTINGS } from '#crds/shared/begin-process.ts';
import { loadConfig } from '#crds/shared/config.ts';
import { startOpsServer } from '#crds/shared/ops-server.ts';
import { announceReady } from '#crds/shared/ready.ts';
import { settings } from '#crds/shared/settings.ts';
import { runUntilStopped } from '#crds/shared/shutdown.ts';

const controlSettings = settings
  .pick({
    ...PROCESS_SETTINGS,
    ...FILE_SETTINGS,
    DATABASE_URL: true,
    MEDIAJOBS_BASE_URL: true,
    MEDIAJOBS_ENCRYPTION_KEYS: true,
    MEDIAJOBS_WORK_DIR: true,
    MEDIAJOBS_RUNS_AT_ONCE: true,
    MEDIAJOBS_OPEN_JOBS: true,
    MEDIAJOBS_HEARTBEAT_HOST: true,
    MEDIAJOBS_HEARTBEAT_PORT: true,
  })
  .required({ MEDIAJOBS_WORK_DIR: true });

/** Long enough for a person to look at a finished MediaJob, short enough for memory to stay flat. */
const KEEP_FINISHED_SECONDS = 60;

const config = loadConfig(controlSettings, process.env);
const { log, clock, registry } = beginProcess('control', config);

const database = makeDatabase({ url: config.DATABASE_URL, log, maxConnections: 12 });
const { files, close: closeFiles } = await openFiles({ clock }, config);
const mediaJobs = makeMemoryMediaJobs({
  clock,
  newUid: () => nameWord(20),
  onWatcherError: (error) => log.error({ err: error }, 'a watcher failed'),
});
const heartbeatKey = randomBytes(32);
const heartbeats = await startHeartbeats(
  { clock, log, mediaJobs },
  { host: config.MEDIAJOBS_HEARTBEAT_HOST, port: config.MEDIAJOBS_HEARTBEAT_PORT, key: heartbeatKey },
);
const runs = await makeLocalRuns(
  { clock, log },
  {
    directory: join(config.MEDIAJOBS_WORK_DIR, 'runs'),
    atOnce: config.MEDIAJOBS_RUNS_AT_ONCE ?? availableParallelism(),
    script: fileURLToPath(new URL('../worker-image/run-job.ts', import.meta.url)),
    path: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    ...(process.env['NODE_COMPILE_CACHE'] === undefined ? {} : { compileCache: process.env['NODE_COMPILE_CACHE'] }),
    ...(config.MEDIAJOBS_FAULTS_DIR === undefined ? {} : { faultsDir: config.MEDIAJOBS_FAULTS_DIR }),
  },
);
const controller = startController({
  mediaJobs,
  runs,
  heartbeats,
  clock,
  time: systemTime,
  log,
  metrics: makeControllerMetrics(registry),
  timing: LOCAL_TIMING,
});
const recorder = startRecorder({
  database,
  databaseUrl: config.DATABASE_URL,
  queueMetrics: makeQueueMetrics(registry, 'recorder'),
  clock,
  newId,
  log,
  mediaJobs,
  files,
  secretBox: makeSecretBox(config.MEDIAJOBS_ENCRYPTION_KEYS),
  baseUrl: config.MEDIAJOBS_BASE_URL,
  linkKeys: config.MEDIAJOBS_LINK_KEYS,
  newNonce: () => nameWord(10),
  heartbeatKey,
  openJobs: config.MEDIAJOBS_OPEN_JOBS,
  keepFinishedSeconds: KEEP_FINISHED_SECONDS,
});
const ops = await startOpsServer(
  { metrics: registry, notReady: () => null },
  { host: config.MEDIAJOBS_OPS_HOST, port: config.MEDIAJOBS_OPS_PORT },
);
announceReady();
log.info({ runs_at_once: config.MEDIAJOBS_RUNS_AT_ONCE ?? availableParallelism() }, 'working');

runUntilStopped({ log }, async () => {
  await recorder.stop();
  await controller.stop();
  const cutOff = (await runs.list()).filter(isUnderWay);
  await runs.close();
  for (const { owner, attempt } of cutOff) await forgiveAttempt(database, { id: jobIdOfName(owner.name), attempt });
  await Promise.all([heartbeats.close(), ops.close()]);
  closeFiles();
  await database.close();
});
