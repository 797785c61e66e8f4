/** SQL of scheduled deletions of objects. A transaction inserts them with its decision; the recorder executes them. */
import { anyLength, PREPARED, type Queryable } from '#api/store/database.ts';

/**
 * Schedules the deletion of a key; one that ends in `/` stands for all keys with that prefix.
 * @param againAt - Time of a second deletion.
 */
export async function deleteLater(tx: Queryable, key: string, dueAt: Date, againAt: Date | null = null): Promise<void> {
  await tx.query(
    `insert into file_deletions as planned (key, due_at, again_at) values ($1, $2, $3)
     on conflict (key) do update set due_at = excluded.due_at, again_at = coalesce(excluded.again_at, planned.again_at)`,
    [key, dueAt, againAt],
    PREPARED,
  );
}

/** Returns the keys whose deletion is due, the longest due first. */
export async function selectDueDeletions(db: Queryable, now: Date, limit: number): Promise<readonly string[]> {
  const { rows } = await db.query<{ key: string }>(
    'select key from file_deletions where due_at <= $1 order by due_at limit $2',
    [now, limit],
    PREPARED,
  );
  return rows.map((row) => row.key);
}

/** Reschedules a failed deletion, so that it does not block others. */
export async function postponeDeletion(db: Queryable, key: string, dueAt: Date): Promise<void> {
  await db.query('update file_deletions set due_at = $2 where key = $1', [key, dueAt]);
}

/** Removes executed deletions, or reschedules them to their `again_at`. */
export async function endDeletions(db: Queryable, keys: readonly string[]): Promise<void> {
  await db.query(
    `with planned_again as (
       update file_deletions set due_at = again_at, again_at = null
       where key = any (${anyLength('$1::text[]')}) and again_at is not null returning key
     )
     delete from file_deletions where key = any (${anyLength('$1::text[]')}) and key not in (select key from planned_again)`,
    [keys],
    PREPARED,
  );
}
