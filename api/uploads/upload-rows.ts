/** SQL of uploads. */
import type { Queryable } from '#api/store/database.ts';

export interface Upload {
  readonly id: string;
  readonly accountId: string;
  readonly livemode: boolean;
  /** As declared; after the content came, as received. */
  readonly size: number;
  readonly filename: string | null;
  readonly multipart: boolean;
  /** Of the content, which is the quoted SHA-256; null until it is there. */
  readonly etag: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly uploadedAt: Date | null;
  readonly jobId: string | null;
}

const COLUMNS = `
  id, account_id as "accountId", livemode, size, filename, multipart, etag, created_at as "createdAt",
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

/** An upload of the account that has not expired; null otherwise. A used one stays until its job ends. */
export async function findUpload(
  db: Queryable,
  owner: { accountId: string; now: Date },
  id: string,
): Promise<Upload | null> {
  const { rows } = await db.query<Upload>(
    `select ${COLUMNS} from uploads
     where id = $1 and account_id = $2 and (expires_at > $3 or job_id is not null)`,
    [id, owner.accountId, owner.now],
  );
  return rows[0] ?? null;
}

/** The content is stored: its size, ETag and, when given, name. */
export async function markUploaded(
  db: Queryable,
  id: string,
  content: { size: number; etag: string; filename: string | null; at: Date },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update uploads set size = $2, etag = $3, filename = coalesce($4, filename), uploaded_at = $5 where id = $1`,
    [id, content.size, content.etag, content.filename, content.at],
  );
  return rowCount === 1;
}

/** Keeps the upload past its expiry, for the first job that names it. */
export async function claimUpload(tx: Queryable, { id, jobId }: { id: string; jobId: string }): Promise<void> {
  await tx.query('update uploads set job_id = coalesce(job_id, $2) where id = $1', [id, jobId]);
}

/** The ETag of an upload's content as it is now; null when the upload is gone. */
export async function currentEtag(tx: Queryable, id: string): Promise<string | null> {
  const { rows } = await tx.query<{ etag: string | null }>('select etag from uploads where id = $1', [id]);
  return rows[0]?.etag ?? null;
}

export async function deleteUpload(tx: Queryable, id: string): Promise<void> {
  await tx.query('delete from uploads where id = $1', [id]);
}

/** Unused uploads past their time. */
export async function selectExpiredUploads(
  db: Queryable,
  now: Date,
  limit: number,
): Promise<readonly { id: string }[]> {
  const { rows } = await db.query<{ id: string }>(
    'select id from uploads where job_id is null and expires_at <= $1 order by expires_at limit $2',
    [now, limit],
  );
  return rows;
}

/** Declared bytes of the account's uploads of a mode since then, used or not. */
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

/** Counts an upload on the allowance; the entry outlives the upload. */
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

export async function forgetAllowance(db: Queryable, before: Date): Promise<void> {
  await db.query('delete from upload_allowance where at <= $1', [before]);
}
