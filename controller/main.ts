/**
 * Controller in a cluster: runs MediaJobs with one Kubernetes Job per attempt. Of several replicas, the holder of the
 * Lease works and the others forward heartbeats to it.
 */
import { completeByRecorder, forwardTransfers } from '#controller/recorder-client.ts';
import { CONTROLLER_ACCESS } from '#controller/cluster-access.ts';
import { startController } from '#controller/controller.ts';
import { serveWorkerPort } from '#controller/worker-port-server.ts';
import { KubernetesRuns } from '#controller/kubernetes-runs.ts';
import { makeVerifyPodToken } from '#controller/pod-token.ts';
import { reflectRuns, reflectStandbys } from '#controller/run-objects.ts';
import { makeControllerMetrics } from '#controller/metrics.ts';
import { Standbys } from '#controller/standbys.ts';
import { CLUSTER_TIMING } from '#controller/timing.ts';
import { workerPodSchema, type WorkerPod } from '#controller/worker-pod.ts';
import { portAddress, STANDBY_PATH } from '#crds/contract/worker-port.ts';
import { connect } from '#crds/kube/connection.ts';
import { makeKubeMetrics } from '#crds/kube/kube-metrics.ts';
import { systemTime } from '#crds/kube/time.ts';
import type { MediaJobClient } from '#crds/media-jobs/media-job-client.ts';
import {
  LEADER_SETTINGS,
  startMediaJobLeader,
  workNamespace,
  type MediaJobLeadership,
} from '#crds/media-jobs/media-job-leader.ts';
import { beginProcess } from '#crds/process/begin-process.ts';
import { PROCESS_SETTINGS, TRACE_SETTINGS } from '#crds/process/process-settings.ts';
import { ConfigError, loadConfig } from '#crds/process/config.ts';
import { opsAddress, startOpsServer } from '#crds/process/ops-server.ts';
import { announceReady } from '#crds/process/ready.ts';
import { settings } from '#crds/process/settings.ts';
import { runUntilStopped } from '#crds/process/shutdown.ts';
import { startTracing } from '#crds/process/start-tracing.ts';

const controllerSettings = settings
  .pick({
    ...PROCESS_SETTINGS,
    ...TRACE_SETTINGS,
    ...LEADER_SETTINGS,
    MEDIAJOBS_POD_IP: true,
    MEDIAJOBS_WORKER_POD: true,
    MEDIAJOBS_RUNS_AT_ONCE: true,
    MEDIAJOBS_HEARTBEAT_URL: true,
    MEDIAJOBS_HEARTBEAT_KEY: true,
    MEDIAJOBS_HEARTBEAT_HOST: true,
    MEDIAJOBS_HEARTBEAT_PORT: true,
    MEDIAJOBS_TRANSFER_URL: true,
  })
  .required({
    MEDIAJOBS_WORKER_POD: true,
    MEDIAJOBS_HEARTBEAT_URL: true,
    MEDIAJOBS_HEARTBEAT_KEY: true,
    MEDIAJOBS_TRANSFER_URL: true,
  });

const config = loadConfig(controllerSettings, process.env);
const pod = workerPod(config.MEDIAJOBS_WORKER_POD);
const { log, clock, registry } = beginProcess('controller', config);
const tracing = await startTracing({ log }, 'controller', config);
const metrics = makeControllerMetrics(registry);
const time = { ...systemTime, now: () => clock.now() };
const connection = connect(config.KUBECONFIG ?? null, 'mediajobs-controller');
const namespace = workNamespace(connection, config);
const installation = { namespace, instance: config.MEDIAJOBS_INSTANCE };
const recorder = { url: config.MEDIAJOBS_TRANSFER_URL, key: config.MEDIAJOBS_HEARTBEAT_KEY };
/** MediaJobs and standbys of this process as leader; null before it leads. */
let leaderMediaJobs: MediaJobClient | null = null;
let leaderStandbys: Standbys | null = null;

const heartbeats = await serveWorkerPort(
  {
    clock,
    log,
    leader: currentLeader,
    grantTransfer: forwardTransfers(recorder),
    pollStandby: async (token, signal, finished) =>
      (await leaderStandbys?.poll(token, signal, finished)) ?? { status: 503 },
    mediaJobs: {
      get: async (name) => (await leaderMediaJobs?.get(name)) ?? null,
      isUnclaimed: async (name) => (await leaderMediaJobs?.isUnclaimed(name)) ?? false,
    },
  },
  {
    address: { host: config.MEDIAJOBS_HEARTBEAT_HOST, port: config.MEDIAJOBS_HEARTBEAT_PORT },
    key: config.MEDIAJOBS_HEARTBEAT_KEY,
    url: config.MEDIAJOBS_HEARTBEAT_URL,
  },
);
const kubeMetrics = makeKubeMetrics(registry);
const leader = startMediaJobLeader(
  { connection, time, log, metrics: kubeMetrics },
  {
    name: 'controller',
    config,
    access: CONTROLLER_ACCESS,
    address: config.MEDIAJOBS_POD_IP ?? '127.0.0.1',
    work,
  },
);
const ops = await startOpsServer(
  { metrics: registry, notReady: leader.notReady, notAlive: leader.notAlive },
  opsAddress(config),
);
announceReady();
log.info({ namespace, ops_port: ops.port }, 'controller started');

runUntilStopped({ log }, async () => {
  await leader.stop();
  await Promise.all([heartbeats.close(), ops.close()]);
  await Promise.all([connection.close(), tracing?.close()]);
});

function work({ client, signal, reflect, mediaJobs }: MediaJobLeadership): { stop: () => Promise<void> } {
  leaderMediaJobs = mediaJobs;
  const standbys = new Standbys(
    {
      client,
      ...reflectStandbys(reflect, installation),
      verifyToken: makeVerifyPodToken({ client, ...time }, installation),
      completeSpec: completeByRecorder(recorder),
      time,
      log,
      metrics: kubeMetrics,
      onBinding: (result) => metrics.countBinding(result),
    },
    { ...installation, pod, url: portAddress(config.MEDIAJOBS_HEARTBEAT_URL, STANDBY_PATH) },
    signal,
  );
  leaderStandbys = standbys;
  metrics.observeStandbys(() => standbys.list());
  const runs = new KubernetesRuns(
    { client, ...reflectRuns(reflect, installation), time, metrics: kubeMetrics, standbys },
    { ...installation, pod, concurrency: config.MEDIAJOBS_RUNS_AT_ONCE ?? null },
    signal,
  );
  // Before it was the leader, this process received no heartbeats.
  const since = clock.now();
  return startController({
    mediaJobs,
    runs,
    heartbeats: { ...heartbeats, since },
    clock,
    time,
    log,
    tracing,
    metrics,
    timing: CLUSTER_TIMING,
  });
}

/** Returns this process, the heartbeat URL of the leader or null. A controller's identity ends with its address. */
function currentLeader(): 'self' | URL | null {
  if (leader.isLeading() && leaderMediaJobs !== null) return 'self';
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
