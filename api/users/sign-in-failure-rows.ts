/** SQL of failed sign-ins, by what they are counted on. */
import type { Queryable } from '#api/store/database.ts';

/** Counts one for each subject. */
export async function insertFailures(db: Queryable, subjects: readonly string[], at: Date): Promise<void> {
  await db.query('insert into sign_in_failures (subject, at) select unnest($1::text[]), $2', [[...subjects], at]);
}

/** How many each subject has since then; one without any is not there. */
export async function countFailures(
  db: Queryable,
  subjects: readonly string[],
  since: Date,
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query<{ subject: string; count: number }>(
    'select subject, count(*)::int as count from sign_in_failures where subject = any($1) and at > $2 group by subject',
    [[...subjects], since],
  );
  return new Map(rows.map(({ subject, count }) => [subject, count]));
}

export async function forgetFailures(db: Queryable, subjects: readonly string[], before: Date): Promise<void> {
  await db.query('delete from sign_in_failures where subject = any($1) or at <= $2', [[...subjects], before]);
}
