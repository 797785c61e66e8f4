/**
 * A job as PostgreSQL holds it; PostgreSQL alone decides.
 *
 *   queued ──first heartbeat──→ processing
 *     │                            │
 *     ├────── work completes ──────┴──→ succeeded
 *     ├────── work cannot be done ─────→ failed
 *     └────── DELETE ──────────────────→ canceled
 *
 * One conditional update takes an unfinished job to its end, in the transaction that also writes the
 * ledger, the file deletions and the webhook deliveries (finish-job.ts). Spec: Job statuses.
 */
import type { Operation } from '#crds/formats.ts';
import type { JobError } from '#crds/media-error.ts';
import type { Features, WorkerReport } from '#crds/media-job.ts';
import type { ResolvedOptions } from '#crds/options/options.ts';
import type { FileLimits } from '#crds/plans.ts';
import type { EngineResult } from '#crds/result.ts';

export const JOB_STATUSES = ['queued', 'processing', 'succeeded', 'failed', 'canceled'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export interface Job {
  readonly id: string;
  readonly accountId: string;
  readonly livemode: boolean;
  readonly operation: Operation;
  readonly status: JobStatus;
  readonly percent: number;
  /** The highest attempt that started; a report of an older one is refused. */
  readonly attempt: number;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
  readonly uploadId: string | null;
  readonly inputKey: string;
  readonly inputEtag: string | null;
  readonly inputFilename: string | null;
  readonly inputSize: number | null;
  /** false until the courier has stored what `input.url` gave. */
  readonly inputStored: boolean;
  readonly options: ResolvedOptions;
  readonly limits: FileLimits;
  readonly features: Features;
  readonly webhookUrl: string | null;
  readonly sendsOutput: boolean;
  readonly retentionSeconds: number;
  readonly metadata: Readonly<Record<string, string>>;
  /** Nonce of the newest MediaJob; null before the first. */
  readonly dispatch: string | null;
  readonly outputKey: string | null;
  /** Of the output to the caller's storage: null before the work is done. */
  readonly delivery: 'due' | 'done' | null;
  readonly report: WorkerReport | null;
  readonly result: EngineResult | null;
  readonly error: JobError | null;
  readonly billed: boolean;
  readonly expiresAt: Date | null;
  readonly filesDeletedAt: Date | null;
}

export function isUnfinished(job: Pick<Job, 'status'>): boolean {
  return job.status === 'queued' || job.status === 'processing';
}

/** Object that an attempt of a MediaJob writes its output to. */
export function outputKey(job: Pick<Job, 'id'>, dispatch: string, attempt: number): string {
  return `${outputFolder(job)}${dispatch}-${attempt}`;
}

/** All outputs of a job, lost attempts' too. */
export function outputFolder(job: Pick<Job, 'id'>): string {
  return `outputs/${job.id}/`;
}
