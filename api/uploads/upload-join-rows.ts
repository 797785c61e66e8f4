/**
 * SQL of joins, in which the parts of an upload become its content.
 *
 *   no lease ──claim: attempt + 1, lease──→ joining ──recorded──→ completed
 *      ↑                                       │
 *      ├── failed: released ───────────────────┤
 *      └── lease expired (process died) ───────┘
 */
import type { Queryable } from '#api/store/database.ts';
import type { Upload } from '#api/uploads/upload-rows.ts';

/** One attempt to join the parts. An earlier attempt of the same upload is stale. */
export interface Join {
  readonly uploadId: string;
  readonly attempt: number;
}

/**
 * Claims the join of an upload. Returns its attempt; null when another attempt has the lease, or when the upload was
 * completed or deleted.
 */
export async function claimJoin(
  db: Queryable,
  uploadId: string,
  { now, leaseUntil }: { now: Date; leaseUntil: Date },
): Promise<number | null> {
  const row = await db.findRow<{ attempt: number }>(
    `update uploads set join_attempt = join_attempt + 1, join_lease_until = $3
     where id = $1 and etag is null and (join_lease_until is null or join_lease_until <= $2)
     returning join_attempt as attempt`,
    [uploadId, now, leaseUntil],
  );
  return row?.attempt ?? null;
}

/** Extends the lease of a join. Returns false when it is stale, or when the upload was completed or deleted. */
export async function extendJoin(db: Queryable, { uploadId, attempt }: Join, leaseUntil: Date): Promise<boolean> {
  return db.changesRow(
    'update uploads set join_lease_until = $3 where id = $1 and join_attempt = $2 and etag is null',
    [uploadId, attempt, leaseUntil],
  );
}

/** Releases the lease of a failed join. Returns false when it is stale, or when the upload was completed or deleted. */
export async function releaseJoin(db: Queryable, { uploadId, attempt }: Join): Promise<boolean> {
  return db.changesRow(
    'update uploads set join_lease_until = null where id = $1 and join_attempt = $2 and etag is null',
    [uploadId, attempt],
  );
}

/** Records the joined content. Returns false when the join is stale, or when the upload was completed or deleted. */
export async function recordJoined(
  db: Queryable,
  { uploadId, attempt }: Join,
  content: { etag: string; kinds: Upload['kinds']; at: Date },
): Promise<boolean> {
  return db.changesRow(
    `update uploads set etag = $3, kinds = $4, uploaded_at = $5, join_lease_until = null
     where id = $1 and join_attempt = $2 and etag is null`,
    [uploadId, attempt, content.etag, content.kinds, content.at],
  );
}
