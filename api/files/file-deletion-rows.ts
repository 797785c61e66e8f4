/** SQL of objects to delete: written in the transaction that decides, carried out by the recorder. */
import type { Queryable } from '#api/store/database.ts';

/** A key that ends in `/` stands for everything below it. */
export async function deleteLater(tx: Queryable, key: string, dueAt: Date): Promise<void> {
  await tx.query(
    'insert into file_deletions (key, due_at) values ($1, $2) on conflict (key) do update set due_at = excluded.due_at',
    [key, dueAt],
  );
}

export async function selectDueDeletions(db: Queryable, now: Date, limit: number): Promise<readonly string[]> {
  const { rows } = await db.query<{ key: string }>(
    'select key from file_deletions where due_at <= $1 order by due_at limit $2',
    [now, limit],
  );
  return rows.map((row) => row.key);
}

export async function forgetDeletion(db: Queryable, key: string): Promise<void> {
  await db.query('delete from file_deletions where key = $1', [key]);
}
