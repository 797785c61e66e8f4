/** SQL of uploads that are incomplete or not used by a finished job. */
import type { Queryable } from '#api/store/database.ts';
import type { Upload } from '#api/uploads/upload-rows.ts';

export interface OpenUpload extends Pick<
  Upload,
  'id' | 'livemode' | 'size' | 'filename' | 'multipart' | 'createdAt' | 'expiresAt' | 'uploadedAt' | 'jobId'
> {
  /** Number of received parts. */
  readonly parts: number;
}

/** Returns the open uploads of an account, newest first. */
export async function selectOpenUploads(
  db: Queryable,
  { accountId, now, limit }: { accountId: string; now: Date; limit: number },
): Promise<readonly OpenUpload[]> {
  return db.selectRows<OpenUpload>(
    `select id, livemode, size, filename, multipart, created_at as "createdAt", expires_at as "expiresAt",
       uploaded_at as "uploadedAt", job_id as "jobId",
       (select count(*)::int from upload_parts where upload_id = uploads.id) as parts
     from uploads where account_id = $1 and (expires_at > $2 or job_id is not null) order by created_at desc, id limit $3`,
    [accountId, now, limit],
  );
}
