/**
 * A job as stored in PostgreSQL, which is the only authority on its state.
 *
 *   queued ──first heartbeat──→ processing
 *     │                            │
 *     ├────── work completes ──────┴──→ succeeded
 *     ├────── work cannot be done ─────→ failed
 *     └────── DELETE ──────────────────→ canceled
 *
 * With `output.url` a completed job stays `processing`, at 95 % or more, until its output is uploaded.
 *
 * One conditional update ends a job, in the transaction that also writes the ledger, the file deletions and the
 * webhook deliveries (finish-job.ts). See docs/reference/jobs.md#job-statuses.
 */
import type { JobError } from '#crds/contract/media-error.ts';
import type { WorkerReport } from '#crds/contract/media-job.ts';
import type { UnnamedWorkOrder } from '#crds/contract/work-order.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';
import type { EngineResult } from '#crds/contract/result.ts';

export const JOB_STATUSES = ['queued', 'processing', 'succeeded', 'failed', 'canceled'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export interface Job extends Readonly<UnnamedWorkOrder> {
  readonly id: string;
  readonly accountId: string;
  /** API key that created it; null: created by an earlier release. */
  readonly keyId: string | null;
  readonly livemode: boolean;
  readonly status: JobStatus;
  readonly percent: number;
  /** Highest attempt that started. A report of an older one is stale. */
  readonly attempt: number;
  /** Attempts that were lost by evictions, preemptions and node drains. */
  readonly disruptions: number;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
  readonly uploadId: string | null;
  readonly inputKey: string;
  readonly inputEtag: string | null;
  readonly inputFilename: string | null;
  readonly inputSize: number | null;
  /** false until the courier has stored the file of `input.url`. */
  readonly inputStored: boolean;
  /** Webhook URL; at most one of both forms is set. */
  readonly plainWebhookUrl: string | null;
  readonly sealedWebhookUrl: Buffer | null;
  readonly sendsOutput: boolean;
  readonly retentionSeconds: number;
  readonly metadata: Readonly<Record<string, string>>;
  /** Context of the span of the request that created the job; null: it was not traced. */
  readonly traceparent: string | null;
  /** Nonce of the newest MediaJob; null before the first. */
  readonly dispatch: string | null;
  readonly outputKey: string | null;
  /** State of the upload to `output.url`; null before processing has ended. */
  readonly outputUpload: 'due' | 'done' | null;
  readonly report: WorkerReport | null;
  readonly result: EngineResult | null;
  readonly error: JobError | null;
  readonly billed: boolean;
  readonly expiresAt: Date | null;
  readonly filesDeletedAt: Date | null;
}

/** Upper bound of the time from a job's dispatch to the last write of any of its attempts, in seconds: the wait for capacity, all attempts, and an hour. */
export const LAST_WRITE_SECONDS = LIMITS.jobWaitSeconds + LIMITS.jobAttempts * LIMITS.jobRunSeconds + 3600;

/** Returns whether a job is queued or processing. */
export function isUnfinished(job: Pick<Job, 'status'>): boolean {
  return job.status === 'queued' || job.status === 'processing';
}

/** Returns the key of the object that an attempt of a MediaJob writes its output to. */
export function outputKey(job: Pick<Job, 'id'>, dispatch: string, attempt: number): string {
  return `${outputFolder(job)}${dispatch}-${attempt}`;
}

/** Returns the folder of all outputs of a job, including those of lost attempts. */
export function outputFolder(job: Pick<Job, 'id'>): string {
  return `outputs/${job.id}/`;
}
