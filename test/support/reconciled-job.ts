import { Registry } from 'prom-client';
import { MemoryMediaJobs } from '#crds/media-jobs/memory-media-jobs.ts';
import type { MediaJobClient } from '#crds/media-jobs/media-job-client.ts';
import type { MediaJobSpec, MediaJobStatus } from '#crds/contract/media-job.ts';
import { mediaJobName } from '#crds/contract/names.ts';
import { makeLog } from '#crds/process/log.ts';
import type { Tracing } from '#crds/process/tracing.ts';
import { NEVER_SUSPENDED } from '#controller/collective-silence.ts';
import type { Heartbeat } from '#controller/heartbeat-records.ts';
import { makeControllerMetrics } from '#controller/metrics.ts';
import { reconcile, type ReconcileDeps } from '#controller/reconcile.ts';
import type { LostCause } from '#controller/runs.ts';
import { LOCAL_TIMING } from '#controller/timing.ts';
import { buildNewMediaJob, jobIdOf } from '#test/support/build-media-job.ts';
import { makeScriptedRuns, type ScriptedRuns } from '#test/support/scripted-runs.ts';

export const JOB = jobIdOf(1);
export const NAME = mediaJobName(JOB);

/** One job, the parts around it, and a clock that the test moves: for tests of `reconcile`. */
export interface ReconciledJob {
  /** Since 2026-01-01T00:00:00Z. */
  seconds: number;
  readonly deps: ReconcileDeps;
  readonly mediaJobs: MediaJobClient;
  readonly runs: ScriptedRuns;
  create(spec?: Partial<MediaJobSpec>): Promise<unknown>;
  /** Reconciles once. Returns the result. */
  step(): Promise<string>;
  status(): Promise<MediaJobStatus | undefined>;
  beat(attempt: number, percent: number): void;
  lostCount(cause: LostCause): Promise<number | undefined>;
}

export function makeReconciledJob(tracing: Tracing | null = null): ReconciledJob {
  const clock = { now: () => new Date(Date.parse('2026-01-01T00:00:00Z') + job.seconds * 1000) };
  let uids = 0;
  const registry = new Registry();
  const beats = new Map<string, Heartbeat>();
  const mediaJobs = new MemoryMediaJobs({ clock, newUid: () => `uid-${(uids += 1)}` });
  const runs = makeScriptedRuns(clock);
  const deps: ReconcileDeps = {
    clock,
    mediaJobs,
    runs,
    heartbeats: {
      url: 'http://127.0.0.1:8091/heartbeat',
      since: new Date('2026-01-01T00:00:00Z'),
      last: (jobId, attempt) => beats.get(`${jobId}/${attempt}`) ?? null,
      outcome: () => null,
      forget: () => beats.clear(),
    },
    log: makeLog('test', 'silent'),
    tracing,
    metrics: makeControllerMetrics(registry),
    timing: LOCAL_TIMING,
    percentWrites: new Map(),
    silenceRule: () => NEVER_SUSPENDED,
  };
  const job: ReconciledJob = {
    seconds: 0,
    deps,
    mediaJobs,
    runs,
    create: (spec = {}) => mediaJobs.create(buildNewMediaJob(spec)),
    step: async () => (await reconcile(deps, NAME)).result,
    status: async () => (await mediaJobs.get(NAME))?.status,
    beat(attempt, percent) {
      const firstAt = beats.get(`${JOB}/${attempt}`)?.firstAt ?? clock.now();
      beats.set(`${JOB}/${attempt}`, { firstAt, lastAt: clock.now(), percent });
    },
    async lostCount(cause) {
      const metric = await registry.getSingleMetric('mediajobs_controller_attempts_lost_total')?.get();
      return metric?.values.find(({ labels }) => labels['cause'] === cause)?.value;
    },
  };
  return job;
}
