/**
 * SQL of transfers: fetches of `input.url` and uploads to `output.url`. The recorder reads their outcomes.
 *
 *   queued ──claim: attempt + 1, lease──→ running ──→ done (done_at), or done with an error
 *     ↑                                   │
 *     ├── transient failure: next_at ─────┤
 *     ├── process stopped: attempt - 1 ───┤
 *     ├── file store failed: attempt - 1 ─┤
 *     └── lease expired (process died) ───┘
 *
 * A transfer of a job that has ended is closed and not run again.
 */
import { deleteLater } from '#api/files/file-deletion-rows.ts';
import { PREPARED, type Queryable } from '#api/store/database.ts';
import type { ErrorCode } from '#crds/contract/error-codes.ts';
import type { PlanName } from '#crds/catalogue/plans.ts';
import type { Format } from '#crds/catalogue/formats.ts';

/** `deliver`: the upload to `output.url`, by the name in stored rows and metrics. */
export type Direction = 'fetch' | 'deliver';

/** One attempt; its number, the column `tries`, is its fencing token. */
export interface TransferAttempt {
  readonly jobId: string;
  readonly direction: Direction;
  readonly attempt: number;
}

export interface ClaimedTransfer extends TransferAttempt {
  readonly plan: PlanName;
  /** Context of the request that created the job; null: it is not traced. */
  readonly traceparent: string | null;
  /** URL of a fetch, encrypted. */
  readonly inputUrl: Buffer | null;
  readonly inputKey: string;
  /** URL and headers of an upload, encrypted. */
  readonly outputTarget: Buffer | null;
  readonly outputKey: string | null;
  readonly outputFormat: Format | null;
}

export interface TransferError {
  readonly code: ErrorCode;
  readonly message: string;
}

/** Inserts a transfer. Does nothing when the job has one of this direction. */
export async function insertTransfer(
  tx: Queryable,
  transfer: { jobId: string; direction: Direction; nextAt: Date },
): Promise<void> {
  await tx.query(
    'insert into transfers (job_id, direction, next_at) values ($1, $2, $3) on conflict do nothing',
    [transfer.jobId, transfer.direction, transfer.nextAt],
    PREPARED,
  );
}

/** Returns ended transfers that end an unfinished job: failed ones, and completed uploads. */
export async function selectSettledTransfers(
  db: Queryable,
  limit: number,
): Promise<readonly { jobId: string; direction: Direction; error: TransferError | null }[]> {
  return db.selectRows<{ jobId: string; direction: Direction; error: TransferError | null }>(
    `select job_id as "jobId", direction, transfer.error
     from transfers as transfer join jobs as job on job.id = transfer.job_id
     where job.status in ('queued', 'processing') and transfer.done_at is not null
       and (transfer.error is not null or transfer.direction = 'deliver')
     order by transfer.done_at limit $1`,
    [limit],
    PREPARED,
  );
}

/** Key of the advisory lock of claims: an arbitrary number that no other lock uses. */
const CLAIM_LOCK = 5_604_119_022;

/**
 * Claims due transfers for one attempt each, the longest due first. No account has more than `perAccount` running in
 * all processes together. It must run in a transaction, whose lock serializes claims.
 */
export async function claimTransfers(
  tx: Queryable,
  claim: { now: Date; leaseUntil: Date; limit: number; perAccount: number },
): Promise<readonly ClaimedTransfer[]> {
  await tx.query('select pg_advisory_xact_lock($1)', [CLAIM_LOCK]);
  await closeEndedTransfers(tx, claim.now);
  return tx.selectRows<ClaimedTransfer>(
    `with due as (
       select job_id, direction, next_at, account_id, coalesce(lease_until > $1, false) as in_flight
       from transfers join jobs on jobs.id = job_id where done_at is null and next_at <= $1
     ), ranked as (
       select job_id, direction, next_at, in_flight,
         row_number() over (partition by account_id order by in_flight desc, next_at, job_id) as rank
       from due
     ), picked as (
       select job_id, direction from ranked where not in_flight and rank <= $4 order by next_at, job_id limit $3
     ), chosen as (
       select job_id, direction from transfers where job_id = any (array (select job_id from picked))
         and (job_id, direction) in (select job_id, direction from picked)
         and done_at is null and (lease_until is null or lease_until <= $1)
       for update skip locked
     )
     update transfers as transfer set tries = transfer.tries + 1, lease_until = $2
     from chosen, jobs as job, accounts as account
     where transfer.job_id = chosen.job_id and transfer.direction = chosen.direction
       and job.id = chosen.job_id and account.id = job.account_id
     returning transfer.job_id as "jobId", transfer.direction, transfer.tries as attempt, account.plan, job.traceparent,
       job.input_url as "inputUrl", job.input_key as "inputKey", job.output_target as "outputTarget",
       job.output_key as "outputKey", job.report -> 'result' ->> 'output_format' as "outputFormat"`,
    [claim.now, claim.leaseUntil, claim.limit, claim.perAccount],
  );
}

/** Closes transfers of ended jobs. Deletes fetched inputs again: one may have been stored after the job's deletion. */
async function closeEndedTransfers(tx: Queryable, now: Date): Promise<void> {
  const { rows } = await tx.query<{ direction: Direction; inputKey: string }>(
    `update transfers as transfer set done_at = $1, lease_until = null from jobs as job
     where job.id = transfer.job_id and transfer.done_at is null and transfer.next_at <= $1
       and (transfer.lease_until is null or transfer.lease_until <= $1) and job.status not in ('queued', 'processing')
     returning transfer.direction, job.input_key as "inputKey"`,
    [now],
  );
  for (const { direction, inputKey } of rows) if (direction === 'fetch') await deleteLater(tx, inputKey, now);
}

/** Extends the lease of an attempt. Returns false when a later attempt has begun or the job has ended. */
export async function extendLease(
  db: Queryable,
  { jobId, direction, attempt }: TransferAttempt,
  leaseUntil: Date,
): Promise<boolean> {
  return db.changesRow(
    `update transfers as transfer set lease_until = $4 from jobs as job
     where transfer.job_id = $1 and transfer.direction = $2 and transfer.tries = $3 and transfer.done_at is null
       and job.id = transfer.job_id and job.status in ('queued', 'processing')`,
    [jobId, direction, attempt, leaseUntil],
  );
}

/** Releases an unfinished attempt without counting it; the transfer is due at `nextAt`, else immediately. */
export async function releaseTransfer(
  db: Queryable,
  { jobId, direction, attempt }: TransferAttempt,
  nextAt?: Date,
): Promise<void> {
  await db.query(
    `update transfers set tries = tries - 1, lease_until = null, next_at = coalesce($4, next_at)
     where job_id = $1 and direction = $2 and tries = $3 and done_at is null`,
    [jobId, direction, attempt, nextAt ?? null],
  );
}

/** Ends a transfer. Returns false when a later attempt has begun or the job has ended. */
export async function endTransfer(
  tx: Queryable,
  { jobId, direction, attempt }: TransferAttempt,
  end: { at: Date; error: TransferError | null },
): Promise<boolean> {
  return tx.changesRow(
    `update transfers as transfer set done_at = $4, lease_until = null, error = $5 from jobs as job
     where transfer.job_id = $1 and transfer.direction = $2 and transfer.tries = $3 and transfer.done_at is null
       and job.id = transfer.job_id and job.status in ('queued', 'processing')`,
    [jobId, direction, attempt, end.at, end.error === null ? null : JSON.stringify(end.error)],
    PREPARED,
  );
}

/** Ends a failed attempt and schedules the next one. */
export async function retryTransfer(
  db: Queryable,
  { jobId, direction, attempt }: TransferAttempt,
  nextAt: Date,
): Promise<void> {
  await db.query(
    `update transfers set next_at = $4, lease_until = null
     where job_id = $1 and direction = $2 and tries = $3 and done_at is null`,
    [jobId, direction, attempt, nextAt],
  );
}

/** Records the stored input of a job. */
export async function recordInput(
  tx: Queryable,
  jobId: string,
  input: { etag: string; filename: string | null; size: number },
): Promise<void> {
  await tx.query(
    `update jobs set input_stored = true, input_etag = $2, input_filename = $3, input_size = $4
     where id = $1 and status in ('queued', 'processing')`,
    [jobId, input.etag, input.filename, input.size],
    PREPARED,
  );
}

/** Records the progress of a fetch, in percent of the whole job. It never decreases. */
export async function recordFetched(db: Queryable, jobId: string, percent: number): Promise<void> {
  await db.query(
    `update jobs set percent = $2
     where id = $1 and status in ('queued', 'processing') and not input_stored and percent < $2`,
    [jobId, percent],
  );
}

/** Deletes up to `limit` transfers that ended at or before a time. Returns their number. */
export async function forgetTransfers(db: Queryable, before: Date, limit: number): Promise<number> {
  return db.countChanged(
    `delete from transfers where (job_id, direction) in (
       select job_id, direction from transfers where done_at <= $1 limit $2
     )`,
    [before, limit],
  );
}

/** Returns the time at which the longest waiting transfer was due; null when none is due. */
export async function oldestDueTransfer(db: Queryable, now: Date): Promise<Date | null> {
  const { rows } = await db.query<{ at: Date | null }>(
    'select min(next_at) as at from transfers where done_at is null and next_at <= $1 and (lease_until is null or lease_until <= $1)',
    [now],
  );
  return rows[0]?.at ?? null;
}
