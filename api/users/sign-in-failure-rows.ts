/** SQL of failed sign-ins, by the subject that they are counted for. */
import type { Queryable } from '#api/store/database.ts';

/** Locks the subjects until the transaction ends, always in the same order. */
export async function lockSubjects(tx: Queryable, subjects: readonly string[]): Promise<void> {
  for (const subject of subjects.toSorted()) {
    await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`sign-in ${subject}`]);
  }
}

/** Inserts one failure for each subject. Returns their ids. */
export async function insertFailures(db: Queryable, subjects: readonly string[], at: Date): Promise<readonly number[]> {
  const { rows } = await db.query<{ id: number }>(
    'insert into sign_in_failures (subject, at) select unnest($1::text[]), $2 returning id',
    [[...subjects], at],
  );
  return rows.map(({ id }) => id);
}

/** Returns the subject's number of failures since a time. */
export async function countFailures(db: Queryable, subject: string, since: Date): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select count(*)::int as count from sign_in_failures where subject = $1 and at > $2',
    [subject, since],
  );
  return rows[0]?.count ?? 0;
}

/** Returns the subject's number of failures since a time, and the time of the last one. */
export async function selectPairFailures(
  db: Queryable,
  subject: string,
  since: Date,
): Promise<{ readonly count: number; readonly last: Date | null }> {
  const { rows } = await db.query<{ count: number; last: Date | null }>(
    'select count(*)::int as count, max(at) as last from sign_in_failures where subject = $1 and at > $2',
    [subject, since],
  );
  return rows[0] ?? { count: 0, last: null };
}

/** Removes failures by their ids, and all of a subject. @param subject null: only the ids. */
export async function removeFailures(db: Queryable, ids: readonly number[], subject: string | null): Promise<void> {
  await db.query('delete from sign_in_failures where id = any($1::bigint[]) or subject = $2', [[...ids], subject]);
}

export async function forgetFailures(db: Queryable, before: Date): Promise<void> {
  await db.query('delete from sign_in_failures where at <= $1', [before]);
}
