/**
 * The controller in a cluster: drives MediaJobs to their end with one Kubernetes Job per attempt. Several may
 * run; the one that holds the Lease works, the others pass heartbeats on to it.
 */
import { CONTROLLER_ACCESS } from '#controller/cluster-access.ts';
import { startController } from '#controller/controller.ts';
import { startHeartbeats } from '#controller/heartbeats.ts';
import { makeKubernetesRuns, reflectRuns } from '#controller/kubernetes-runs.ts';
import { makeControllerMetrics } from '#controller/metrics.ts';
import { CLUSTER_TIMING } from '#controller/timing.ts';
import { workerPodSchema, type WorkerPod } from '#controller/worker-pod.ts';
import { connect } from '#crds/kube/connection.ts';
import { makeKubeMetrics } from '#crds/kube/kube-metrics.ts';
import { systemTime } from '#crds/kube/time.ts';
import type { MediaJobClient } from '#crds/media-job-client.ts';
import { LEADER_SETTINGS, startMediaJobLeader, type MediaJobLeadership } from '#crds/media-job-leader.ts';
import { beginProcess, PROCESS_SETTINGS } from '#crds/shared/begin-process.ts';
import { ConfigError, loadConfig } from '#crds/shared/config.ts';
import { startOpsServer } from '#crds/shared/ops-server.ts';
import { announceReady } from '#crds/shared/ready.ts';
import { settings } from '#crds/shared/settings.ts';
import { runUntilStopped } from '#crds/shared/shutdown.ts';

const controllerSettings = settings
  .pick({
    ...PROCESS_SETTINGS,
    ...LEADER_SETTINGS,
    MEDIAJOBS_POD_IP: true,
    MEDIAJOBS_WORKER_POD: true,
    MEDIAJOBS_RUNS_AT_ONCE: true,
    MEDIAJOBS_HEARTBEAT_URL: true,
    MEDIAJOBS_HEARTBEAT_KEY: true,
    MEDIAJOBS_HEARTBEAT_HOST: true,
    MEDIAJOBS_HEARTBEAT_PORT: true,
  })
  .required({ MEDIAJOBS_WORKER_POD: true, MEDIAJOBS_HEARTBEAT_URL: true, MEDIAJOBS_HEARTBEAT_KEY: true });

const config = loadConfig(controllerSettings, process.env);
const pod = workerPod(config.MEDIAJOBS_WORKER_POD);
const { log, clock, registry } = beginProcess('controller', config);
const metrics = makeControllerMetrics(registry);
const time = { ...systemTime, now: () => clock.now() };
const connection = connect(config.KUBECONFIG ?? null);
const { namespace } = connection;
let leadersView: MediaJobClient | null = null;

const heartbeats = await startHeartbeats(
  {
    clock,
    log,
    leader: whoLeads,
    mediaJobs: { get: async (name) => (await leadersView?.get(name)) ?? null },
  },
  {
    host: config.MEDIAJOBS_HEARTBEAT_HOST,
    port: config.MEDIAJOBS_HEARTBEAT_PORT,
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
  { host: config.MEDIAJOBS_OPS_HOST, port: config.MEDIAJOBS_OPS_PORT },
);
announceReady();
log.info({ namespace, ops_port: ops.port }, 'controller started');

runUntilStopped({ log }, async () => {
  await leader.stop();
  await Promise.all([heartbeats.close(), ops.close()]);
  await connection.close();
});

function work({ client, signal, reflect, mediaJobs }: MediaJobLeadership): { stop: () => Promise<void> } {
  leadersView = mediaJobs;
  const runs = makeKubernetesRuns(
    { client, ...reflectRuns(reflect, namespace), time, metrics: kubeMetrics },
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
  if (leader.isLeading() && leadersView !== null) return 'self';
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
