/**
 * SQL of dispatch, progress, upload, end and clean-up of jobs. The column `delivery` is `Job.outputUpload`, the state of the
 * upload to `output.url`: it has nothing to do with the delivery of webhooks.
 */
import type { Job } from '#api/jobs/job.ts';
import { JOB_COLUMNS } from '#api/jobs/job-rows.ts';
import { PREPARED, type Queryable } from '#api/store/database.ts';
import type { JobError } from '#crds/contract/media-error.ts';
import type { WorkerReport } from '#crds/contract/media-job.ts';
import type { EngineResult } from '#crds/contract/result.ts';

/** A stored start stays. Otherwise `$4`, the first heartbeat of the attempt, unless it is null. */
const STARTED_AT = 'coalesce(started_at, case when $4::timestamptz is not null then greatest($4, created_at) end)';

/**
 * Returns unfinished jobs that have no MediaJob (`present` has the ids of those that do): round robin between accounts,
 * each account's oldest first.
 */
export async function selectUndispatchedJobs(
  db: Queryable,
  input: { present: readonly string[]; inputStored: boolean; limit: number },
): Promise<readonly Job[]> {
  return db.selectRows<Job>(
    `with waiting as (
       select id, created_at, row_number() over (partition by account_id order by created_at, id) as account_rank
       from jobs where status in ('queued', 'processing') and delivery is null and input_stored = $3
     ), chosen as materialized (
       select id, account_rank from waiting where id not in (select unnest($1::text[]))
       order by account_rank, created_at limit $2
     )
     select ${JOB_COLUMNS} from jobs join chosen using (id) order by account_rank, created_at`,
    [input.present, input.limit, input.inputStored],
    PREPARED,
  );
}

/** Assigns new dispatch nonces to jobs, by job. Returns the ids of those that have not ended and no other dispatcher took. */
export async function setDispatches(
  db: Queryable,
  nonces: ReadonlyMap<Pick<Job, 'id' | 'dispatch'>, string>,
): Promise<ReadonlySet<string>> {
  const jobs = [...nonces.keys()];
  const rows = await db.selectRows<{ id: string }>(
    `update jobs set dispatch = given.nonce
     from unnest($1::text[], $2::text[], $3::text[]) as given (job_id, earlier, nonce)
     where id = given.job_id and dispatch is not distinct from given.earlier
       and status in ('queued', 'processing') and delivery is null
     returning id`,
    [jobs.map(({ id }) => id), jobs.map(({ dispatch }) => dispatch), [...nonces.values()]],
    PREPARED,
  );
  return new Set(rows.map(({ id }) => id));
}

/** Stores the progress of an attempt. Percent and attempt never decrease; an ended job stays unchanged. */
export async function recordProgress(
  db: Queryable,
  job: { id: string; dispatch: string },
  progress: { attempt: number; disruptions: number; startedAt: Date | null; percent: number },
): Promise<void> {
  await db.query(
    `update jobs set
       attempt = greatest(attempt, $3),
       disruptions = greatest(disruptions, $6),
       status = case when $4::timestamptz is null then status else 'processing' end,
       started_at = ${STARTED_AT},
       percent = greatest(percent, $5)
     where id = $1 and dispatch = $2 and status in ('queued', 'processing') and delivery is null and attempt <= $3`,
    [job.id, job.dispatch, progress.attempt, progress.startedAt, progress.percent, progress.disruptions],
    PREPARED,
  );
}

/** Marks a job whose output the courier has to upload. Returns false when a newer attempt or the end was first. */
export async function markUploadDue(
  tx: Queryable,
  job: { id: string; dispatch: string },
  done: { attempt: number; startedAt: Date; outputKey: string; report: WorkerReport },
): Promise<boolean> {
  return tx.changesRow(
    `update jobs set delivery = 'due', attempt = $3, status = 'processing', percent = greatest(percent, 95),
       started_at = ${STARTED_AT}, output_key = $5, report = $6
     where id = $1 and dispatch = $2 and status in ('queued', 'processing') and delivery is null and attempt <= $3`,
    [job.id, job.dispatch, done.attempt, done.startedAt, done.outputKey, JSON.stringify(done.report)],
  );
}

/** Reverts the number of an attempt that a shutdown interrupted. Its MediaJob is deleted, so the number can be reused. */
export async function revertAttempt(db: Queryable, job: { id: string; attempt: number }): Promise<void> {
  await db.query(
    `update jobs set attempt = attempt - 1
     where id = $1 and attempt = $2 and status in ('queued', 'processing') and delivery is null`,
    [job.id, job.attempt],
  );
}

/** Columns that the end of a job sets. */
export interface JobEnd {
  readonly status: 'succeeded' | 'failed' | 'canceled';
  readonly completedAt: Date;
  readonly startedAt: Date | null;
  readonly result: EngineResult | null;
  readonly report: WorkerReport | null;
  readonly error: JobError | null;
  readonly billed: boolean;
  readonly outputKey: string | null;
  readonly expiresAt: Date;
  readonly filesDeletedAt: Date | null;
  /** MediaJob and attempt that ended the job; null when nothing of the cluster did. */
  readonly fence: { readonly dispatch: string; readonly attempt: number } | null;
}

/** Ends a job by one conditional update. Returns null when it had ended before or the report is stale. */
export async function endJob(tx: Queryable, id: string, end: JobEnd): Promise<Job | null> {
  return tx.findRow<Job>(
    `update jobs set status = $2, completed_at = greatest($3, created_at),
       started_at = ${STARTED_AT}, result = $5, report = $6, error = $7, billed = $8,
       output_key = $9, expires_at = $10, files_deleted_at = $11, attempt = coalesce($13, attempt),
       percent = case when $2 = 'succeeded' then 100 else percent end,
       delivery = case when delivery is null then null else 'done' end, reserved_micro_usd = 0
     where id = $1 and status in ('queued', 'processing')
       and ($12::text is null or (dispatch = $12 and attempt <= $13))
     returning ${JOB_COLUMNS}`,
    [
      id,
      end.status,
      end.completedAt,
      end.startedAt,
      json(end.result),
      json(end.report),
      json(end.error),
      end.billed,
      end.outputKey,
      end.expiresAt,
      end.filesDeletedAt,
      end.fence?.dispatch ?? null,
      end.fence?.attempt ?? null,
    ],
    PREPARED,
  );
}

/** Marks the files of a finished job as deleted. Returns false when they were before. */
export async function markFilesDeleted(tx: Queryable, id: string, at: Date): Promise<boolean> {
  return tx.changesRow(
    `update jobs set files_deleted_at = $2 where id = $1 and files_deleted_at is null and completed_at is not null`,
    [id, at],
  );
}

/** Returns succeeded jobs past their `expires_at` whose files are not deleted. */
export async function selectExpiredJobs(db: Queryable, now: Date, limit: number): Promise<readonly Job[]> {
  return db.selectRows<Job>(
    `select ${JOB_COLUMNS} from jobs
     where expires_at <= $1 and files_deleted_at is null and status = 'succeeded' order by expires_at limit $2`,
    [now, limit],
  );
}

/** Time at which the input of a job was stored. */
const STORED_AT = `coalesce(
  (select done_at from transfers where job_id = jobs.id and direction = 'fetch'), created_at)`;

/** Conditions of jobs that have been fetching, waiting or uploading since a time or longer. */
const OVERDUE = {
  fetching: `status = 'queued' and not input_stored and created_at <= $1`,
  waiting: `status = 'queued' and input_stored and created_at <= $1 and ${STORED_AT} <= $1`,
  uploading: `status = 'processing' and delivery = 'due' and started_at <= $1`,
} as const;

export type OverdueStep = keyof typeof OVERDUE;

/** Returns jobs that fetch their input, wait for capacity, or process and upload their output since a time or longer. */
export async function selectOverdueJobs(
  db: Queryable,
  { step, since }: { step: OverdueStep; since: Date },
  limit: number,
): Promise<readonly Job[]> {
  return db.selectRows<Job>(`select ${JOB_COLUMNS} from jobs where ${OVERDUE[step]} order by created_at limit $2`, [
    since,
    limit,
  ]);
}

/** Returns number and longest wait of the queued jobs with a stored input, by extension of their file names. */
export async function selectQueues(
  db: Queryable,
): Promise<readonly { readonly extension: string; readonly jobs: number; readonly oldest: Date }[]> {
  return db.selectRows(
    `select coalesce(substring(input_filename from '[.]([^.]+)$'), '') as extension, count(*)::int as jobs,
       min(${STORED_AT}) as oldest
     from jobs where status = 'queued' and input_stored group by 1`,
    [],
  );
}

/** Deletes up to `limit` jobs that ended at or before a time, with their transfers. Returns the number of jobs. */
export async function forgetJobs(db: Queryable, before: Date, limit: number): Promise<number> {
  return db.countChanged(
    `with expired as (
       select id from jobs where completed_at <= $1 and files_deleted_at is not null limit $2
     ), expired_transfers as (
       delete from transfers where job_id in (select id from expired)
     )
     delete from jobs where id in (select id from expired)`,
    [before, limit],
  );
}

function json(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}
