/** SQL of the bytes that compression saved. */
import type { Queryable } from '#api/store/database.ts';

export interface Savings {
  /** Size of the files before, in bytes. */
  readonly inputBytes: number;
  /** Size of the results, in bytes. */
  readonly outputBytes: number;
}

/** Returns the sizes of the files that were compressed with live keys since a UTC day, YYYY-MM-DD. */
export async function selectSavings(
  db: Queryable,
  { accountId, from }: { accountId: string; from: string },
): Promise<Savings> {
  const row = await db.findRow<Savings>(
    `select coalesce(sum(input_bytes), 0)::float8 as "inputBytes", coalesce(sum(output_bytes), 0)::float8 as "outputBytes"
     from ledger where account_id = $1 and livemode and day >= $2 and operation = 'compress' and output_bytes > 0`,
    [accountId, from],
  );
  return row ?? { inputBytes: 0, outputBytes: 0 };
}

/** Returns whether the account has processed a file, live or test. */
export async function hasUsage(db: Queryable, accountId: string): Promise<boolean> {
  const row = await db.findRow<{ day: string }>('select day from usage_days where account_id = $1 limit 1', [
    accountId,
  ]);
  return row !== null;
}
