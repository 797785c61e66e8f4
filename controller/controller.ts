import type { Time } from '#crds/kube/time.ts';
import { WorkQueue } from '#crds/kube/work-queue.ts';
import type { MediaJobClient } from '#crds/media-jobs/media-job-client.ts';
import { isFinal } from '#crds/contract/media-job.ts';
import { mediaJobName } from '#crds/contract/names.ts';
import type { Clock } from '#crds/process/clock.ts';
import type { Log } from '#crds/process/log.ts';
import type { Tracing } from '#crds/process/tracing.ts';
import type { Applied } from '#controller/apply.ts';
import type { Heartbeats } from '#controller/worker-port-server.ts';
import type { ControllerMetrics } from '#controller/metrics.ts';
import { reconcile, type ReconcileDeps } from '#controller/reconcile.ts';
import { isNotStarting, isUnfinishedRun, type Runs } from '#controller/runs.ts';
import { watchSilence } from '#controller/watch-silence.ts';
import type { Timing } from '#controller/timing.ts';

export interface ControllerDeps {
  readonly mediaJobs: MediaJobClient;
  readonly runs: Runs;
  readonly heartbeats: Heartbeats;
  readonly clock: Clock;
  readonly time: Pick<Time, 'wait' | 'random'>;
  readonly log: Log;
  /** null: no spans are recorded. */
  readonly tracing: Tracing | null;
  readonly metrics: ControllerMetrics;
  readonly timing: Timing;
}

export interface Controller {
  /** Stops reconciling; resolves when running reconciliations have ended. Runs continue. */
  stop(): Promise<void>;
}

const QUEUE = { workers: 8, firstRetryMs: 100, lastRetryMs: 5 * 60_000 };
const CONFLICT_RETRY_MS = 50;
/** Maximum number of waiting jobs that are requeued when a slot may be free, the longest waiting first. */
const WOKEN_JOBS = 8;

/** Starts to reconcile MediaJobs until they are final. Events of MediaJobs, runs and heartbeats only enqueue names. */
export function startController(deps: ControllerDeps): Controller {
  const ended = new AbortController();
  const silence = watchSilence(deps, ended.signal);
  const reconcileDeps: ReconcileDeps = { ...deps, percentWrites: new Map(), silenceRule: silence.rule };
  const waitingForCapacity = new Set<string>();

  const queue = new WorkQueue(
    {
      async handle(name) {
        const { result, requeueAt } = await reconcile(reconcileDeps, name);
        deps.metrics.reconciled(result);
        if (result !== 'no_capacity') waitingForCapacity.delete(name);
        else waitingForCapacity.add(name);
        return delayMs(deps.clock, { result, requeueAt });
      },
      metrics: deps.metrics.queue,
      onError(error, name, retryMs) {
        deps.metrics.reconciled('error');
        deps.log.error({ err: error, name, retry_in_ms: retryMs }, 'MediaJob not handled');
      },
    },
    QUEUE,
  );
  const wakeWaiting = (): void => [...waitingForCapacity].slice(0, WOKEN_JOBS).forEach((name) => queue.add(name));
  const resync = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await namesToSweep(deps).then(
        (names) => names.forEach((name) => queue.add(name, 'sweep')),
        (error: unknown) => deps.log.error({ err: error }, 'resync failed'),
      );
      // Jitter, so that processes that started together do not resync together.
      await deps.time.wait(deps.timing.resyncMs * (0.9 + 0.2 * deps.time.random()), ended.signal);
    }
  };

  deps.mediaJobs.watch(({ mediaJob }) => queue.add(mediaJob.metadata.name), ended.signal);
  deps.heartbeats.watch((jobId) => queue.add(mediaJobName(jobId)), ended.signal);
  deps.runs.watch((name) => {
    queue.add(name);
    wakeWaiting();
  }, ended.signal);
  const waking = setInterval(wakeWaiting, deps.timing.capacityRetryMs);
  const sweeping = resync();
  deps.metrics.observe({
    activeRuns: async () => (await deps.runs.list()).filter(isUnfinishedRun).length,
    notStarting: async () => (await deps.runs.list()).filter(isNotStarting).length,
  });

  return {
    async stop() {
      ended.abort();
      clearInterval(waking);
      await Promise.all([queue.stop(), sweeping, silence.ended]);
    },
  };
}

function delayMs(clock: Clock, { result, requeueAt }: Applied): number | null {
  if (result === 'conflict') return CONFLICT_RETRY_MS;
  return requeueAt === null ? null : Math.max(0, requeueAt.getTime() - clock.now().getTime());
}

/** Returns the names of all unfinished MediaJobs, oldest first, and of the owners of all runs, also deleted ones. */
async function namesToSweep({ mediaJobs, runs }: Pick<ControllerDeps, 'mediaJobs' | 'runs'>): Promise<Set<string>> {
  const [jobs, allRuns] = await Promise.all([mediaJobs.list(), runs.list()]);
  const unfinished = jobs
    .filter(({ status }) => !isFinal(status))
    .toSorted((a, b) => a.metadata.creationTimestamp.localeCompare(b.metadata.creationTimestamp));
  return new Set([...unfinished.map(({ metadata }) => metadata.name), ...allRuns.map(({ owner }) => owner.name)]);
}
