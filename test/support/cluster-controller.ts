/** The controller as `controller/main.ts` composes it, in this process and with a client that the test chooses. */
import { Registry } from 'prom-client';
import { startController } from '#controller/controller.ts';
import { KubernetesRuns } from '#controller/kubernetes-runs.ts';
import { reflectRuns } from '#controller/run-objects.ts';
import { makeControllerMetrics } from '#controller/metrics.ts';
import { CLUSTER_TIMING } from '#controller/timing.ts';
import { workerPodSchema } from '#controller/worker-pod.ts';
import type { KubeClient } from '#crds/kube/kube-client.ts';
import { startReflector, type Reflector, type ReflectorOptions } from '#crds/kube/reflector.ts';
import { systemTime } from '#crds/kube/time.ts';
import { KubernetesMediaJobs, mediaJobsPath } from '#crds/media-jobs/kubernetes-media-jobs.ts';
import { makeLog } from '#crds/process/log.ts';
import { silentReflectorMetrics } from '#test/support/silent-reflector-metrics.ts';

/** Starts a controller and returns a function that stops it without a last request to the API server. `isHeard`: every worker, from the start. */
export function startClusterController(client: KubeClient, namespace: string, isHeard = true): () => void {
  const ended = new AbortController();
  const log = makeLog('test', 'silent');
  const installation = { namespace, instance: 'mediajobs' };
  const time = systemTime;
  const now = time.now();
  const reflect = (options: Omit<ReflectorOptions, 'firstList'>): Reflector =>
    startReflector(
      { client, time, log, metrics: silentReflectorMetrics },
      { firstList: 'consistent', ...options },
      ended.signal,
    );
  const reflector = reflect({ path: mediaJobsPath(namespace) });
  const events = { record: () => undefined };
  const controller = startController({
    mediaJobs: new KubernetesMediaJobs(
      { client, reflector, events, time, log, metrics: silentReflectorMetrics },
      installation,
      ended.signal,
    ),
    runs: new KubernetesRuns(
      { client, ...reflectRuns(reflect, installation), time, metrics: silentReflectorMetrics },
      { ...installation, pod: workerPodSchema.parse({ image: 'worker' }), concurrency: null },
      ended.signal,
    ),
    heartbeats: {
      url: 'http://127.0.0.1:1/heartbeat',
      since: now,
      last: () => (isHeard ? { firstAt: now, lastAt: time.now(), percent: 50 } : null),
      outcome: () => null,
      forget: () => undefined,
      watch: () => undefined,
      close: async () => undefined,
    },
    clock: time,
    time,
    log,
    tracing: null,
    metrics: makeControllerMetrics(new Registry()),
    timing: CLUSTER_TIMING,
  });
  return () => {
    ended.abort();
    // What waits for a response that a dead process never gets is not waited for.
    void controller.stop();
  };
}
