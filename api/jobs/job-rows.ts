/** SQL of jobs as callers make and read them. */
import type { Job, JobStatus } from '#api/jobs/job.ts';
import { PREPARED, type Queryable } from '#api/store/database.ts';

export const JOB_COLUMNS = `
  id, account_id as "accountId", livemode, operation, status, percent, attempt,
  created_at as "createdAt", started_at as "startedAt", completed_at as "completedAt",
  upload_id as "uploadId", input_key as "inputKey", input_etag as "inputEtag",
  input_filename as "inputFilename", input_size as "inputSize", input_stored as "inputStored",
  options, limits, features, webhook_url as "webhookUrl", output_target is not null as "sendsOutput",
  retention_seconds as "retentionSeconds", metadata, dispatch, output_key as "outputKey", delivery,
  report, result, error, billed, expires_at as "expiresAt", files_deleted_at as "filesDeletedAt"`;

export interface NewJob extends Pick<
  Job,
  | 'id'
  | 'accountId'
  | 'livemode'
  | 'operation'
  | 'createdAt'
  | 'uploadId'
  | 'inputKey'
  | 'inputEtag'
  | 'inputFilename'
  | 'inputSize'
  | 'inputStored'
  | 'options'
  | 'limits'
  | 'features'
  | 'webhookUrl'
  | 'retentionSeconds'
  | 'metadata'
> {
  /** Encrypted. */
  readonly inputUrl: Buffer | null;
  readonly outputTarget: Buffer | null;
  readonly reservedMicroUsd: number;
}

export async function insertJob(tx: Queryable, job: NewJob): Promise<Job> {
  const { rows } = await tx.query<Job>(
    `insert into jobs (id, account_id, livemode, operation, created_at, upload_id, input_key, input_etag,
       input_filename, input_size, input_stored, options, limits, features, webhook_url, retention_seconds,
       metadata, input_url, output_target, reserved_micro_usd)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
     returning ${JOB_COLUMNS}`,
    [
      job.id,
      job.accountId,
      job.livemode,
      job.operation,
      job.createdAt,
      job.uploadId,
      job.inputKey,
      job.inputEtag,
      job.inputFilename,
      job.inputSize,
      job.inputStored,
      JSON.stringify(job.options),
      JSON.stringify(job.limits),
      JSON.stringify(job.features),
      job.webhookUrl,
      job.retentionSeconds,
      JSON.stringify(job.metadata),
      job.inputUrl,
      job.outputTarget,
      job.reservedMicroUsd,
    ],
    PREPARED,
  );
  return only(rows);
}

/** Any account's job, for our own processes. */
export async function findJob(db: Queryable, id: string): Promise<Job | null> {
  const { rows } = await db.query<Job>(`select ${JOB_COLUMNS} from jobs where id = $1`, [id], PREPARED);
  return rows[0] ?? null;
}

/** A job of this account and mode that is still readable. Spec: Job record readable. */
export async function findReadableJob(
  db: Queryable,
  owner: { accountId: string; livemode: boolean; finishedAfter: Date },
  id: string,
): Promise<Job | null> {
  const { rows } = await db.query<Job>(
    `select ${JOB_COLUMNS} from jobs
     where id = $1 and account_id = $2 and livemode = $3 and (completed_at is null or completed_at > $4)`,
    [id, owner.accountId, owner.livemode, owner.finishedAfter],
    PREPARED,
  );
  return rows[0] ?? null;
}

export interface JobFilter {
  readonly accountId: string;
  readonly livemode: boolean;
  readonly finishedAfter: Date;
  readonly status: JobStatus | null;
  readonly operation: string | null;
  readonly createdAfter: Date | null;
  readonly createdBefore: Date | null;
}

/** The job at a page's edge; its own row is not part of the page. */
export interface Cursor {
  readonly direction: 'older' | 'newer';
  readonly createdAt: Date;
  readonly id: string;
}

/** Jobs next to the cursor (older: newest first; newer: oldest first), or the newest ones. */
export async function selectJobs(
  db: Queryable,
  filter: JobFilter,
  page: { cursor: Cursor | null; limit: number },
): Promise<readonly Job[]> {
  const { cursor } = page;
  const newer = cursor?.direction === 'newer';
  const { rows } = await db.query<Job>(
    `select ${JOB_COLUMNS} from jobs
     where account_id = $1 and livemode = $2 and (completed_at is null or completed_at > $3)
       and ($4::text is null or status = $4) and ($5::text is null or operation = $5)
       and ($6::timestamptz is null or created_at > $6) and ($7::timestamptz is null or created_at < $7)
       and ($8::timestamptz is null or (created_at, id) ${newer ? '>' : '<'} ($8, $9))
     order by created_at ${newer ? 'asc' : 'desc'}, id ${newer ? 'asc' : 'desc'}
     limit $10`,
    [
      filter.accountId,
      filter.livemode,
      filter.finishedAfter,
      filter.status,
      filter.operation,
      filter.createdAfter,
      filter.createdBefore,
      cursor?.createdAt ?? null,
      cursor?.id ?? null,
      page.limit,
    ],
  );
  return rows;
}

export async function countUnfinishedJobs(tx: Queryable, accountId: string): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `select count(*)::int as count from jobs where account_id = $1 and status in ('queued', 'processing')`,
    [accountId],
    PREPARED,
  );
  return only(rows).count;
}

/** Locks the job's row until the transaction ends. */
export async function lockJob(tx: Queryable, id: string): Promise<Job | null> {
  const { rows } = await tx.query<Job>(`select ${JOB_COLUMNS} from jobs where id = $1 for update`, [id], PREPARED);
  return rows[0] ?? null;
}

function only<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined || rows.length > 1) throw new Error(`expected one row, got ${rows.length}`);
  return row;
}
