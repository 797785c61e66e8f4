import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Job } from '#api/jobs/job.ts';
import { selectQueues } from '#api/jobs/job-progress-rows.ts';
import type { Queryable } from '#api/store/database.ts';
import { scrapedFromDatabase } from '#api/store/scraped-from-database.ts';
import { kindOfName, KINDS, type Kind } from '#crds/catalogue/formats.ts';
import type { Clock } from '#crds/process/clock.ts';

export interface JobMetrics {
  /** Counts a job that has succeeded or failed. */
  readonly ended: (job: Job) => void;
}

type KindLabel = Kind | 'unknown';

/** Kind by the content, else by the file name. */
const KIND_LABELS: readonly KindLabel[] = [...KINDS, 'unknown'];
const WAIT_BUCKETS = [0.5, 1, 2, 5, 10, 30, 60, 300, 900, 1800];
const RUN_BUCKETS = [0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600, 14_400];

/** Registers and returns the metrics of jobs, which the leading recorder has. */
export function makeJobMetrics(
  { database, clock }: { database: Queryable; clock: Clock },
  registry: Registry,
): JobMetrics {
  const registers = [registry];
  const ended = new Counter({
    name: 'mediajobs_jobs_ended_total',
    help: 'Jobs that succeeded or failed, by kind of the file, outcome and error code; the code of a success is none.',
    labelNames: ['kind', 'outcome', 'code'] as const,
    registers,
  });
  const waits = new Histogram({
    name: 'mediajobs_job_wait_seconds',
    help: 'Time from the creation of a job to its first heartbeat in seconds, by kind of the file.',
    labelNames: ['kind'] as const,
    buckets: WAIT_BUCKETS,
    registers,
  });
  const runs = new Histogram({
    name: 'mediajobs_job_run_seconds',
    help: 'Time from the first heartbeat of a job to its end in seconds, by kind of the file.',
    labelNames: ['kind'] as const,
    buckets: RUN_BUCKETS,
    registers,
  });
  const queues = sharedRead(() => queuesByKind(database));
  new Gauge({
    name: 'mediajobs_jobs_queued',
    help: 'Jobs whose input is stored and that have not started, by kind of the file name.',
    labelNames: ['kind'] as const,
    registers,
    collect: scrapedFromDatabase(async (gauge) => {
      for (const [kind, { jobs }] of await queues()) gauge.set({ kind }, jobs);
    }),
  });
  new Gauge({
    name: 'mediajobs_jobs_oldest_queued_seconds',
    help: 'Age of the oldest job that is queued with a stored input in seconds, by kind of the file name; 0: none is.',
    labelNames: ['kind'] as const,
    registers,
    collect: scrapedFromDatabase(async (gauge) => {
      const now = clock.now().getTime();
      for (const [kind, { oldest }] of await queues())
        gauge.set({ kind }, oldest === null ? 0 : Math.max(0, now - oldest.getTime()) / 1000);
    }),
  });
  // The first increase of a series that begins with 1 is not seen by a rate.
  for (const kind of KIND_LABELS) {
    ended.inc({ kind, outcome: 'succeeded', code: 'none' }, 0);
    for (const code of ['internal', 'timeout']) ended.inc({ kind, outcome: 'failed', code }, 0);
  }
  return {
    ended(job) {
      const kind = job.result?.kind ?? kindOfName(job.inputFilename) ?? 'unknown';
      const { createdAt, startedAt, completedAt } = job;
      ended.inc({ kind, outcome: job.status, code: job.error?.code ?? 'none' });
      if (startedAt === null || completedAt === null) return;
      waits.observe({ kind }, Math.max(0, startedAt.getTime() - createdAt.getTime()) / 1000);
      runs.observe({ kind }, Math.max(0, completedAt.getTime() - startedAt.getTime()) / 1000);
    },
  };
}

interface KindQueue {
  jobs: number;
  oldest: Date | null;
}

/** Returns the queue of each kind, also of those without jobs. */
async function queuesByKind(database: Queryable): Promise<ReadonlyMap<KindLabel, KindQueue>> {
  const queues = new Map<KindLabel, KindQueue>(KIND_LABELS.map((kind) => [kind, { jobs: 0, oldest: null }]));
  for (const { extension, jobs, oldest } of await selectQueues(database)) {
    const queue = queues.get(kindOfName(`file.${extension}`) ?? 'unknown');
    if (queue === undefined) continue;
    queue.jobs += jobs;
    if (queue.oldest === null || oldest < queue.oldest) queue.oldest = oldest;
  }
  return queues;
}

/** Returns a function whose callers share a read that is running: the gauges of one scrape ask the database once. */
function sharedRead<T>(read: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  return () =>
    (running ??= read().finally(() => {
      running = null;
    }));
}
