/** SQL of uploads. */
import { PREPARED, type Queryable } from '#api/store/database.ts';
import type { Kind } from '#crds/catalogue/formats.ts';

export interface Upload {
  readonly id: string;
  readonly accountId: string;
  readonly livemode: boolean;
  /** Size in bytes: the declared one until the content is stored, then that of the content. */
  readonly size: number;
  readonly filename: string | null;
  readonly multipart: boolean;
  /** ETag of the content, the quoted SHA-256; null until it is stored. */
  readonly etag: string | null;
  /** Kinds that the content may have by its first bytes; null: any. */
  readonly kinds: readonly Kind[] | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly uploadedAt: Date | null;
  readonly jobId: string | null;
}

const COLUMNS = `
  id, account_id as "accountId", livemode, size, filename, multipart, etag, kinds, created_at as "createdAt",
  expires_at as "expiresAt", uploaded_at as "uploadedAt", job_id as "jobId"`;

export async function insertUpload(
  tx: Queryable,
  upload: Pick<Upload, 'id' | 'accountId' | 'livemode' | 'size' | 'filename' | 'multipart' | 'createdAt' | 'expiresAt'>,
): Promise<void> {
  await tx.query(
    `insert into uploads (id, account_id, livemode, size, filename, multipart, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      upload.id,
      upload.accountId,
      upload.livemode,
      upload.size,
      upload.filename,
      upload.multipart,
      upload.createdAt,
      upload.expiresAt,
    ],
  );
}

/** Returns an upload of the account; null when it has expired. An upload of a job stays until the job ends. */
export async function findUpload(
  db: Queryable,
  owner: { accountId: string; now: Date },
  id: string,
): Promise<Upload | null> {
  return db.findRow<Upload>(
    `select ${COLUMNS} from uploads
     where id = $1 and account_id = $2 and (expires_at > $3 or job_id is not null)`,
    [id, owner.accountId, owner.now],
  );
}

/** Records stored content. Returns false when the upload was deleted. */
export async function markUploaded(
  db: Queryable,
  id: string,
  content: { size: number; etag: string; kinds: readonly Kind[] | null; filename: string | null; at: Date },
): Promise<boolean> {
  return db.changesRow(
    `update uploads set size = $2, etag = $3, kinds = $4, filename = coalesce($5, filename), uploaded_at = $6
     where id = $1`,
    [id, content.size, content.etag, content.kinds, content.filename, content.at],
  );
}

/**
 * Reserves the upload for a job, which also suspends its expiry. Returns false when another job has it or it was
 * deleted: an upload serves one job.
 */
export async function claimUpload(tx: Queryable, { id, jobId }: { id: string; jobId: string }): Promise<boolean> {
  return tx.changesRow('update uploads set job_id = $2 where id = $1 and job_id is null', [id, jobId], PREPARED);
}

/** Returns the ETag of an upload's current content; null when the upload was deleted. */
export async function currentEtag(tx: Queryable, id: string): Promise<string | null> {
  const { rows } = await tx.query<{ etag: string | null }>('select etag from uploads where id = $1', [id], PREPARED);
  return rows[0]?.etag ?? null;
}

/** Deletes the row of an upload. Returns whether it was sent in parts. */
export async function deleteUpload(tx: Queryable, id: string): Promise<boolean> {
  const { rows } = await tx.query<{ multipart: boolean }>(
    'delete from uploads where id = $1 returning multipart',
    [id],
    PREPARED,
  );
  return rows[0]?.multipart ?? false;
}

/** Returns expired uploads that no job uses. */
export async function selectExpiredUploads(
  db: Queryable,
  now: Date,
  limit: number,
): Promise<readonly { id: string }[]> {
  return db.selectRows<{ id: string }>(
    'select id from uploads where job_id is null and expires_at <= $1 order by expires_at limit $2',
    [now, limit],
  );
}

/** Returns the bytes counted on the account's allowance of a mode since a time. */
export async function uploadedBytesSince(
  tx: Queryable,
  owner: { accountId: string; livemode: boolean },
  since: Date,
): Promise<number> {
  const { rows } = await tx.query<{ bytes: number }>(
    `select coalesce(sum(bytes), 0)::bigint as bytes from upload_allowance
     where account_id = $1 and livemode = $2 and at > $3`,
    [owner.accountId, owner.livemode, since],
  );
  return rows[0]?.bytes ?? 0;
}

/**
 * Returns the time of the entry with which the oldest entries since a time reach a number of bytes; null when all
 * together have fewer.
 */
export async function allowanceEntryReaching(
  tx: Queryable,
  owner: { accountId: string; livemode: boolean },
  { since, bytes }: { since: Date; bytes: number },
): Promise<Date | null> {
  const { rows } = await tx.query<{ at: Date | null }>(
    `select min(at) as at from (
       select at, sum(bytes) over (order by at) as reached from upload_allowance
       where account_id = $1 and livemode = $2 and at > $3
     ) as entries where reached >= $4`,
    [owner.accountId, owner.livemode, since, bytes],
  );
  return rows[0]?.at ?? null;
}

/** Inserts an entry of the allowance, which outlives the upload. */
export async function countOnAllowance(
  tx: Queryable,
  entry: { accountId: string; livemode: boolean; bytes: number; at: Date },
): Promise<void> {
  await tx.query('insert into upload_allowance (account_id, livemode, bytes, at) values ($1, $2, $3, $4)', [
    entry.accountId,
    entry.livemode,
    entry.bytes,
    entry.at,
  ]);
}

/** Deletes entries of the allowance at or before a time. */
export async function forgetAllowance(db: Queryable, before: Date): Promise<void> {
  await db.query('delete from upload_allowance where at <= $1', [before]);
}

/** Records a stored part; a repeated part replaces the earlier one. Returns false when the upload was deleted. */
export async function recordPart(
  db: Queryable,
  part: { uploadId: string; partNumber: number; size: number },
): Promise<boolean> {
  return db.changesRow(
    `insert into upload_parts (upload_id, part_number, size)
     select id, $2::integer, $3::bigint from uploads where id = $1 for key share
     on conflict (upload_id, part_number) do update set size = excluded.size`,
    [part.uploadId, part.partNumber, part.size],
  );
}

export async function selectPartNumbers(db: Queryable, uploadId: string): Promise<ReadonlySet<number>> {
  const { rows } = await db.query<{ part_number: number }>(
    'select part_number from upload_parts where upload_id = $1',
    [uploadId],
  );
  return new Set(rows.map((row) => row.part_number));
}

/** Upload that is incomplete or not used by a finished job. */
export interface UnfinishedUpload extends Pick<
  Upload,
  'id' | 'livemode' | 'size' | 'filename' | 'multipart' | 'createdAt' | 'expiresAt' | 'uploadedAt' | 'jobId'
> {
  /** Number of received parts. */
  readonly parts: number;
}

/** Returns the unfinished uploads of an account, newest first. */
export async function selectUnfinishedUploads(
  db: Queryable,
  { accountId, now, limit }: { accountId: string; now: Date; limit: number },
): Promise<readonly UnfinishedUpload[]> {
  return db.selectRows<UnfinishedUpload>(
    `select id, livemode, size, filename, multipart, created_at as "createdAt", expires_at as "expiresAt",
       uploaded_at as "uploadedAt", job_id as "jobId",
       (select count(*)::int from upload_parts where upload_id = uploads.id) as parts
     from uploads where account_id = $1 and (expires_at > $2 or job_id is not null) order by created_at desc, id limit $3`,
    [accountId, now, limit],
  );
}
