/**
 * The recorder in a cluster: makes MediaJobs of queued rows, brings their ends into PostgreSQL, cleans up.
 * Several may run; the one that holds the Lease works.
 */
import { hostname } from 'node:os';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { FILE_SETTINGS } from '#api/files/file-settings.ts';
import { openFiles } from '#api/files/open-files.ts';
import { RECORDER_ACCESS } from '#api/jobs/cluster-access.ts';
import { startRecorder } from '#api/jobs/record-jobs.ts';
import { databaseProblem } from '#api/store/database-problem.ts';
import { makeDatabase } from '#api/store/database.ts';
import { makeSecretBox } from '#api/store/secret-box.ts';
import { newId, randomWord } from '#crds/ids.ts';
import { connect } from '#crds/kube/connection.ts';
import { makeEventRecorder } from '#crds/kube/event-recorder.ts';
import { makeKubeMetrics } from '#crds/kube/kube-metrics.ts';
import { makeQueueMetrics } from '#crds/kube/queue-metrics.ts';
import { startLeaderProcess, type Leadership } from '#crds/kube/leader-process.ts';
import { systemTime } from '#crds/kube/time.ts';
import { makeKubernetesMediaJobs, mediaJobsPath } from '#crds/kubernetes-media-jobs.ts';
import { API_GROUP, API_VERSION, CRD_NAME, PLURAL } from '#crds/names.ts';
import { clockOf } from '#crds/shared/clock.ts';
import { loadConfig } from '#crds/shared/config.ts';
import { armFaultPoints } from '#crds/shared/fault-point.ts';
import { makeLog } from '#crds/shared/log.ts';
import { startOpsServer } from '#crds/shared/ops-server.ts';
import { announceReady } from '#crds/shared/ready.ts';
import { settings } from '#crds/shared/settings.ts';
import { runUntilStopped } from '#crds/shared/shutdown.ts';

const recorderSettings = settings
  .pick({
    ...FILE_SETTINGS,
    DATABASE_URL: true,
    KUBECONFIG: true,
    MEDIAJOBS_BASE_URL: true,
    MEDIAJOBS_ENCRYPTION_KEYS: true,
    MEDIAJOBS_RELEASE: true,
    MEDIAJOBS_POD_NAME: true,
    MEDIAJOBS_OPEN_JOBS: true,
    MEDIAJOBS_HEARTBEAT_KEY: true,
    MEDIAJOBS_KUBE_QPS: true,
    MEDIAJOBS_KUBE_BURST: true,
    MEDIAJOBS_OPS_HOST: true,
    MEDIAJOBS_OPS_PORT: true,
    MEDIAJOBS_LOG_LEVEL: true,
    MEDIAJOBS_CLOCK_FILE: true,
    MEDIAJOBS_FAULTS_DIR: true,
  })
  .required({ MEDIAJOBS_HEARTBEAT_KEY: true });

/** Long enough for a person to look at a finished MediaJob. */
const KEEP_FINISHED_SECONDS = 300;
const WORD = '0123456789abcdefghijklmnopqrstuvwxyz';

const config = loadConfig(recorderSettings, process.env);
const log = makeLog('recorder', config.MEDIAJOBS_LOG_LEVEL);
const clock = clockOf({ log }, config.MEDIAJOBS_CLOCK_FILE);
armFaultPoints({ log }, config.MEDIAJOBS_FAULTS_DIR);
const registry = new Registry();
collectDefaultMetrics({ register: registry });
const time = { ...systemTime, now: () => clock.now() };
const connection = connect(config.KUBECONFIG ?? null);
const { namespace } = connection;
const database = makeDatabase({ url: config.DATABASE_URL, log, maxConnections: 12 });
const { files, problem: filesProblem, close: closeFiles } = await openFiles({ clock }, config);

const kubeMetrics = makeKubeMetrics(registry);
const leader = startLeaderProcess(
  { connection, time, log, metrics: kubeMetrics },
  {
    lease: `${config.MEDIAJOBS_RELEASE}-recorder`,
    identity: `${config.MEDIAJOBS_POD_NAME ?? hostname()}_${randomWord(WORD, 5)}`,
    rate: { perSecond: config.MEDIAJOBS_KUBE_QPS, burst: config.MEDIAJOBS_KUBE_BURST },
    needs: {
      namespace,
      customResource: { groupVersion: `${API_GROUP}/${API_VERSION}`, plural: PLURAL, crd: CRD_NAME },
      access: RECORDER_ACCESS,
    },
    work,
    onLost(why) {
      log.fatal({ why }, 'the process ends: another one may lead');
      process.exit(1);
    },
  },
);
const ops = await startOpsServer(
  { metrics: registry, notReady, notAlive: leader.notAlive },
  { host: config.MEDIAJOBS_OPS_HOST, port: config.MEDIAJOBS_OPS_PORT },
);
announceReady();
log.info({ namespace, ops_port: ops.port }, 'recorder started');

runUntilStopped({ log }, async () => {
  await leader.stop();
  await ops.close();
  closeFiles();
  await Promise.all([connection.close(), database.close()]);
});

function work({ client, signal, reflect }: Leadership): { stop: () => Promise<void> } {
  const events = makeEventRecorder(
    { client, time, log, newWord: () => randomWord(WORD, 16) },
    { component: 'mediajobs-recorder' },
  );
  const reflector = reflect({ path: mediaJobsPath(namespace) });
  return startRecorder({
    database,
    databaseUrl: config.DATABASE_URL,
    queueMetrics: makeQueueMetrics(registry, 'recorder'),
    clock,
    newId,
    log,
    mediaJobs: makeKubernetesMediaJobs(
      { client, reflector, events, time, log, metrics: kubeMetrics },
      { namespace },
      signal,
    ),
    files,
    secretBox: makeSecretBox(config.MEDIAJOBS_ENCRYPTION_KEYS),
    baseUrl: config.MEDIAJOBS_BASE_URL,
    linkKeys: config.MEDIAJOBS_LINK_KEYS,
    newNonce: () => randomWord(WORD, 10),
    heartbeatKey: config.MEDIAJOBS_HEARTBEAT_KEY,
    openJobs: config.MEDIAJOBS_OPEN_JOBS,
    keepFinishedSeconds: KEEP_FINISHED_SECONDS,
  });
}

async function notReady(): Promise<string | null> {
  return (await databaseProblem(database)) ?? (await filesProblem()) ?? leader.notReady();
}
