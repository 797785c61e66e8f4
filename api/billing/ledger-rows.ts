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

const INSERT_ROW = `insert into ledger (source_id, account_id, livemode, day, operation, kind, meter, quantity,
       amount_micro_usd, input_bytes, output_bytes, at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) on conflict (source_id) do nothing`;

/** Inserts a row. Returns false, and changes nothing, when the source is in the ledger already. */
export async function insertLedgerRow(tx: Queryable, row: LedgerRow): Promise<boolean> {
  return tx.changesRow(INSERT_ROW, valuesOf(row), PREPARED);
}

/**
 * Inserts a row and adds its amount to the month, which `lockMonth` has locked. Returns false, and changes nothing, when
 * the source is in the ledger already.
 */
export async function insertCharge(
  tx: Queryable,
  row: LedgerRow,
  { month, images }: { month: string; images: number },
): Promise<boolean> {
  return tx.changesRow(
    `with counted as (${INSERT_ROW} returning account_id, amount_micro_usd)
     update monthly_spend as spend
     set amount_micro_usd = spend.amount_micro_usd + counted.amount_micro_usd, images = spend.images + $14
     from counted where spend.account_id = counted.account_id and spend.month = $13`,
    [...valuesOf(row), month, images],
    PREPARED,
  );
}

function valuesOf(row: LedgerRow): readonly unknown[] {
  return [
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
  ];
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

/** Columns of `Spending`, of the account $1 in the month $2 at the time $3. */
export const SPENDING = `
       coalesce((select amount_micro_usd from monthly_spend where account_id = $1 and month = $2), 0) as spent,
       coalesce((select sum(reserved_micro_usd) from jobs
                 where account_id = $1 and livemode and status in ('queued', 'processing')), 0)
       + coalesce((select sum(micro_usd) from direct_reservations
                   where account_id = $1 and lease_until > $3), 0) as running`;

/** Spending of an account, in micro-dollars. */
export interface Spending {
  readonly spent: number;
  /** Maximum cost of unfinished live jobs and direct requests. */
  readonly running: number;
}

/** Returns the month's spending and the maximum cost of unfinished live jobs and direct requests, in micro-dollars. */
export async function selectSpending(
  db: Queryable,
  { accountId, month, now }: AccountMonth & { now: Date },
): Promise<Spending> {
  const { rows } = await db.query<Spending>(`select ${SPENDING}`, [accountId, month, now], PREPARED);
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
