import type { Time } from '#crds/kube/time.ts';
import { makeWorkQueue } from '#crds/kube/work-queue.ts';
import type { MediaJobClient } from '#crds/media-job-client.ts';
import { isFinal } from '#crds/media-job.ts';
import { mediaJobName } from '#crds/names.ts';
import type { Clock } from '#crds/shared/clock.ts';
import type { Log } from '#crds/shared/log.ts';
import type { Applied } from '#controller/apply.ts';
import type { Heartbeats } from '#controller/heartbeats.ts';
import type { ControllerMetrics } from '#controller/metrics.ts';
import { reconcile, type ReconcileDeps } from '#controller/reconcile.ts';
import { isUnderWay, type Runs } from '#controller/runs.ts';
import type { Timing } from '#controller/timing.ts';

export interface ControllerDeps {
  readonly mediaJobs: MediaJobClient;
  readonly runs: Runs;
  readonly heartbeats: Heartbeats;
  readonly clock: Clock;
  readonly time: Pick<Time, 'wait' | 'random'>;
  readonly log: Log;
  readonly metrics: ControllerMetrics;
  readonly timing: Timing;
}

export interface Controller {
  /** Looks at no further MediaJob; resolves when those in work are done. Runs go on. */
  stop(): Promise<void>;
}

const QUEUE = { workers: 8, firstRetryMs: 100, lastRetryMs: 5 * 60_000 };
const CONFLICT_RETRY_MS = 50;
/** Waiting jobs that ask for a place when one may be free; the first come first. */
const WOKEN_AT_ONCE = 8;

/** Drives every MediaJob to its end. MediaJobs, runs and heartbeats only say whom to look at. */
export function startController(deps: ControllerDeps): Controller {
  const ended = new AbortController();
  const reconcileDeps: ReconcileDeps = { ...deps, percentWrites: new Map() };
  const waitingForPlace = new Set<string>();

  const queue = makeWorkQueue(
    {
      async handle(name) {
        const { result, again } = await reconcile(reconcileDeps, name);
        deps.metrics.reconciled(result);
        if (result !== 'no_capacity') waitingForPlace.delete(name);
        else waitingForPlace.add(name);
        return delayMs(deps.clock, { result, again });
      },
      metrics: deps.metrics.queue,
      onError(error, name, retryMs) {
        deps.metrics.reconciled('error');
        deps.log.error({ err: error, name, retryMs }, 'MediaJob not handled');
      },
    },
    QUEUE,
  );
  const wakeWaiting = (): void => [...waitingForPlace].slice(0, WOKEN_AT_ONCE).forEach((name) => queue.add(name));
  const resync = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await namesToSweep(deps).then(
        (names) => names.forEach((name) => queue.add(name, 'sweep')),
        (error: unknown) => deps.log.error({ err: error }, 'resync failed'),
      );
      // Replicas and neighbours that began together do not sweep together.
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
    activeRuns: async () => (await deps.runs.list()).filter(isUnderWay).length,
  });

  return {
    async stop() {
      ended.abort();
      clearInterval(waking);
      await Promise.all([queue.stop(), sweeping]);
    },
  };
}

function delayMs(clock: Clock, { result, again }: Applied): number | null {
  if (result === 'conflict') return CONFLICT_RETRY_MS;
  return again === null ? null : Math.max(0, again.getTime() - clock.now().getTime());
}

/** Every unfinished MediaJob, oldest first, and every run's: also of MediaJobs that are gone. */
async function namesToSweep({ mediaJobs, runs }: Pick<ControllerDeps, 'mediaJobs' | 'runs'>): Promise<Set<string>> {
  const [jobs, allRuns] = await Promise.all([mediaJobs.list(), runs.list()]);
  const unfinished = jobs
    .filter(({ status }) => !isFinal(status))
    .toSorted((a, b) => a.metadata.creationTimestamp.localeCompare(b.metadata.creationTimestamp));
  return new Set([...unfinished.map(({ metadata }) => metadata.name), ...allRuns.map(({ owner }) => owner.name)]);
}
