/**
 * The controller in a cluster: drives MediaJobs to their end with one Kubernetes Job per attempt. Several may
 * run; the one that holds the Lease works, the others pass heartbeats on to it.
 */
import { hostname } from 'node:os';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { CONTROLLER_ACCESS } from '#controller/cluster-access.ts';
import { startController } from '#controller/controller.ts';
import { startHeartbeats } from '#controller/heartbeats.ts';
import {
  jobOfPod,
  jobsPath,
  keepOfJob,
  keepOfPod,
  makeKubernetesRuns,
  mediaJobOf,
  podsPath,
  RUN_SELECTOR,
} from '#controller/kubernetes-runs.ts';
import { makeControllerMetrics } from '#controller/metrics.ts';
import { CLUSTER_TIMING } from '#controller/timing.ts';
import { workerPodSchema, type WorkerPod } from '#controller/worker-pod.ts';
import { randomWord } from '#crds/ids.ts';
import { connect } from '#crds/kube/connection.ts';
import { makeEventRecorder } from '#crds/kube/event-recorder.ts';
import { makeKubeMetrics } from '#crds/kube/kube-metrics.ts';
import { startLeaderProcess, type Leadership } from '#crds/kube/leader-process.ts';
import { systemTime } from '#crds/kube/time.ts';
import { makeKubernetesMediaJobs, mediaJobsPath } from '#crds/kubernetes-media-jobs.ts';
import type { MediaJobClient } from '#crds/media-job-client.ts';
import { API_GROUP, API_VERSION, CRD_NAME, PLURAL } from '#crds/names.ts';
import { clockOf } from '#crds/shared/clock.ts';
import { ConfigError, loadConfig } from '#crds/shared/config.ts';
import { armFaultPoints } from '#crds/shared/fault-point.ts';
import { makeLog } from '#crds/shared/log.ts';
import { startOpsServer } from '#crds/shared/ops-server.ts';
import { announceReady } from '#crds/shared/ready.ts';
import { settings } from '#crds/shared/settings.ts';
import { runUntilStopped } from '#crds/shared/shutdown.ts';

const controllerSettings = settings
  .pick({
    KUBECONFIG: true,
    MEDIAJOBS_RELEASE: true,
    MEDIAJOBS_POD_NAME: true,
    MEDIAJOBS_POD_IP: true,
    MEDIAJOBS_WORKER_POD: true,
    MEDIAJOBS_RUNS_AT_ONCE: true,
    MEDIAJOBS_KUBE_QPS: true,
    MEDIAJOBS_KUBE_BURST: true,
    MEDIAJOBS_HEARTBEAT_URL: true,
    MEDIAJOBS_HEARTBEAT_KEY: true,
    MEDIAJOBS_HEARTBEAT_HOST: true,
    MEDIAJOBS_HEARTBEAT_PORT: true,
    MEDIAJOBS_OPS_HOST: true,
    MEDIAJOBS_OPS_PORT: true,
    MEDIAJOBS_LOG_LEVEL: true,
    MEDIAJOBS_CLOCK_FILE: true,
    MEDIAJOBS_FAULTS_DIR: true,
  })
  .required({ MEDIAJOBS_WORKER_POD: true, MEDIAJOBS_HEARTBEAT_URL: true, MEDIAJOBS_HEARTBEAT_KEY: true });

const WORD = '0123456789abcdefghijklmnopqrstuvwxyz';

const config = loadConfig(controllerSettings, process.env);
const pod = workerPod(config.MEDIAJOBS_WORKER_POD);
const log = makeLog('controller', config.MEDIAJOBS_LOG_LEVEL);
const clock = clockOf({ log }, config.MEDIAJOBS_CLOCK_FILE);
armFaultPoints({ log }, config.MEDIAJOBS_FAULTS_DIR);
const registry = new Registry();
collectDefaultMetrics({ register: registry });
const metrics = makeControllerMetrics(registry);
const time = { ...systemTime, now: () => clock.now() };
const connection = connect(config.KUBECONFIG ?? null);
const { namespace } = connection;
let leading: { readonly mediaJobs: MediaJobClient } | null = null;

const heartbeats = await startHeartbeats(
  {
    clock,
    log,
    leader: whoLeads,
    mediaJobs: { get: async (name) => (await leading?.mediaJobs.get(name)) ?? null },
  },
  {
    host: config.MEDIAJOBS_HEARTBEAT_HOST,
    port: config.MEDIAJOBS_HEARTBEAT_PORT,
    key: config.MEDIAJOBS_HEARTBEAT_KEY,
    url: config.MEDIAJOBS_HEARTBEAT_URL,
  },
);
const kubeMetrics = makeKubeMetrics(registry);
const leader = startLeaderProcess(
  { connection, time, log, metrics: kubeMetrics },
  {
    lease: `${config.MEDIAJOBS_RELEASE}-controller`,
    identity: `${config.MEDIAJOBS_POD_NAME ?? hostname()}_${randomWord(WORD, 5)}_${config.MEDIAJOBS_POD_IP ?? '127.0.0.1'}`,
    rate: { perSecond: config.MEDIAJOBS_KUBE_QPS, burst: config.MEDIAJOBS_KUBE_BURST },
    needs: {
      namespace,
      customResource: { groupVersion: `${API_GROUP}/${API_VERSION}`, plural: PLURAL, crd: CRD_NAME },
      access: CONTROLLER_ACCESS,
    },
    work,
    onLost(why) {
      log.fatal({ why }, 'the process ends: another one may lead');
      process.exit(1);
    },
  },
);
const ops = await startOpsServer(
  { metrics: registry, notReady: leader.notReady, notAlive: leader.notAlive },
  { host: config.MEDIAJOBS_OPS_HOST, port: config.MEDIAJOBS_OPS_PORT },
);
announceReady();
log.info({ namespace, ops_port: ops.port }, 'controller started');

runUntilStopped({ log }, async () => {
  await leader.stop();
  await Promise.all([heartbeats.close(), ops.close()]);
  await connection.close();
});

function work({ client, signal, reflect }: Leadership): { stop: () => Promise<void> } {
  const events = makeEventRecorder(
    { client, time, log, newWord: () => randomWord(WORD, 16) },
    { component: 'mediajobs-controller' },
  );
  const reflector = reflect({ path: mediaJobsPath(namespace) });
  const jobs = reflect({
    path: jobsPath(namespace),
    labelSelector: RUN_SELECTOR,
    indexBy: mediaJobOf,
    keep: keepOfJob,
  });
  const pods = reflect({ path: podsPath(namespace), labelSelector: RUN_SELECTOR, indexBy: jobOfPod, keep: keepOfPod });
  const mediaJobs = makeKubernetesMediaJobs(
    { client, reflector, events, time, log, metrics: kubeMetrics },
    { namespace },
    signal,
  );
  leading = { mediaJobs };
  const runs = makeKubernetesRuns(
    { client, jobs, pods, time, metrics: kubeMetrics },
    { namespace, pod, atOnce: config.MEDIAJOBS_RUNS_AT_ONCE ?? null },
    signal,
  );
  // Nobody can have reported to this process before it led.
  const since = clock.now();
  return startController({
    mediaJobs,
    runs,
    heartbeats: { ...heartbeats, since },
    clock,
    time,
    log,
    metrics,
    timing: CLUSTER_TIMING,
  });
}

/** The identity of a controller ends with its address. */
function whoLeads(): 'self' | URL | null {
  if (leader.isLeading() && leading !== null) return 'self';
  const address = leader.holder()?.split('_').at(-1);
  if (address === undefined || leader.isLeading()) return null;
  const host = address.includes(':') ? `[${address}]` : address;
  return new URL(`http://${host}:${config.MEDIAJOBS_HEARTBEAT_PORT}/heartbeat`);
}

function workerPod(given: unknown): WorkerPod {
  const parsed = workerPodSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new ConfigError(
    parsed.error.issues.map(({ path, message }) => `MEDIAJOBS_WORKER_POD: ${path.join('.')}: ${message}.`),
  );
}
