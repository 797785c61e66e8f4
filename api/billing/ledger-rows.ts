/** SQL of the ledger and of each account's spending per month. */
import { PREPARED, type Queryable } from '#api/store/database.ts';
import type { Kind, Operation } from '#crds/catalogue/formats.ts';
import type { Meter } from '#crds/catalogue/prices.ts';

/** One counted piece of work: a direct request or a finished job. */
export interface LedgerRow {
  /** `req_…` or `job_…`. */
  readonly sourceId: string;
  readonly accountId: string;
  readonly livemode: boolean;
  /** UTC day, YYYY-MM-DD. */
  readonly day: string;
  readonly operation: Operation;
  readonly kind: Kind | null;
  readonly meter: Meter | 'unbilled';
  readonly quantity: number;
  readonly amountMicroUsd: number;
  readonly inputBytes: number;
  readonly outputBytes: number;
  readonly at: Date;
}

interface AccountMonth {
  readonly accountId: string;
  /** First day, UTC, as YYYY-MM-01. */
  readonly month: string;
}

interface MonthlySpend {
  readonly amountMicroUsd: number;
  readonly images: number;
}

/** Inserts a row. Returns false, and changes nothing, when the source is in the ledger already. */
export async function insertLedgerRow(tx: Queryable, row: LedgerRow): Promise<boolean> {
  return tx.changesRow(
    `insert into ledger (source_id, account_id, livemode, day, operation, kind, meter, quantity, amount_micro_usd,
       input_bytes, output_bytes, at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) on conflict (source_id) do nothing`,
    [
      row.sourceId,
      row.accountId,
      row.livemode,
      row.day,
      row.operation,
      row.kind,
      row.meter,
      row.quantity,
      row.amountMicroUsd,
      row.inputBytes,
      row.outputBytes,
      row.at,
    ],
    PREPARED,
  );
}

export async function findCharge(
  db: Queryable,
  sourceId: string,
): Promise<Pick<LedgerRow, 'meter' | 'quantity' | 'amountMicroUsd'> | null> {
  return db.findRow<Pick<LedgerRow, 'meter' | 'quantity' | 'amountMicroUsd'>>(
    'select meter, quantity, amount_micro_usd as "amountMicroUsd" from ledger where source_id = $1',
    [sourceId],
  );
}

/** Locks and returns the account's sums of the month until the transaction ends, so that prices by tier are exact. */
export async function lockMonth(tx: Queryable, { accountId, month }: AccountMonth): Promise<MonthlySpend> {
  const lock = (): Promise<MonthlySpend | null> =>
    tx.findRow<MonthlySpend>(
      `select amount_micro_usd as "amountMicroUsd", images from monthly_spend
       where account_id = $1 and month = $2 for update`,
      [accountId, month],
      PREPARED,
    );
  const found = await lock();
  if (found !== null) return found;
  await tx.query('insert into monthly_spend (account_id, month) values ($1, $2) on conflict do nothing', [
    accountId,
    month,
  ]);
  return (await lock()) ?? { amountMicroUsd: 0, images: 0 };
}

export async function addToMonth(
  tx: Queryable,
  { accountId, month }: AccountMonth,
  added: MonthlySpend,
): Promise<void> {
  await tx.query(
    `update monthly_spend set amount_micro_usd = amount_micro_usd + $3, images = images + $4
     where account_id = $1 and month = $2`,
    [accountId, month, added.amountMicroUsd, added.images],
    PREPARED,
  );
}

/** Returns the month's spending and the maximum cost of unfinished live jobs and direct requests, in micro-dollars. */
export async function selectSpending(
  db: Queryable,
  { accountId, month, now }: AccountMonth & { now: Date },
): Promise<{ spent: number; running: number }> {
  const { rows } = await db.query<{ spent: number; running: number }>(
    `select
       coalesce((select amount_micro_usd from monthly_spend where account_id = $1 and month = $2), 0) as spent,
       coalesce((select sum(reserved_micro_usd) from jobs
                 where account_id = $1 and livemode and status in ('queued', 'processing')), 0)
       + coalesce((select sum(micro_usd) from direct_reservations
                   where account_id = $1 and lease_until > $3), 0) as running`,
    [accountId, month, now],
    PREPARED,
  );
  return rows[0] ?? { spent: 0, running: 0 };
}

/** Returns the number of images that the account was billed for in the month. */
export async function selectImagesOfMonth(db: Queryable, { accountId, month }: AccountMonth): Promise<number> {
  const { rows } = await db.query<{ images: number }>(
    'select images from monthly_spend where account_id = $1 and month = $2',
    [accountId, month],
  );
  return rows[0]?.images ?? 0;
}
