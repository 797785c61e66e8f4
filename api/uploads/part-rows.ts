/** SQL of the parts of uploads. */
import type { Queryable } from '#api/store/database.ts';

/** Records a stored part; a repeated part replaces the earlier one. */
export async function recordPart(
  db: Queryable,
  part: { uploadId: string; partNumber: number; size: number },
): Promise<void> {
  await db.query(
    `insert into upload_parts (upload_id, part_number, size) values ($1, $2, $3)
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
