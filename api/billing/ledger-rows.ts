/** SQL of the ledger and of what each account has spent per month. */
import { PREPARED, type Queryable } from '#api/store/database.ts';
import type { Kind, Operation } from '#crds/formats.ts';
import type { Meter } from '#crds/prices.ts';

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

/** The months are named by their first day, YYYY-MM-01, UTC. */
interface AccountMonth {
  readonly accountId: string;
  readonly month: string;
}

interface MonthlySpend {
  readonly amountMicroUsd: number;
  readonly images: number;
}

/** false when the source is in the ledger already: then nothing changed. */
export async function insertLedgerRow(tx: Queryable, row: LedgerRow): Promise<boolean> {
  const { rowCount } = await tx.query(
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
  return rowCount === 1;
}

export async function findCharge(
  db: Queryable,
  sourceId: string,
): Promise<Pick<LedgerRow, 'meter' | 'quantity' | 'amountMicroUsd'> | null> {
  const { rows } = await db.query<Pick<LedgerRow, 'meter' | 'quantity' | 'amountMicroUsd'>>(
    'select meter, quantity, amount_micro_usd as "amountMicroUsd" from ledger where source_id = $1',
    [sourceId],
  );
  return rows[0] ?? null;
}

/** Locks what the account has spent that month until the transaction ends, so that prices by tier are exact. */
export async function lockMonth(tx: Queryable, { accountId, month }: AccountMonth): Promise<MonthlySpend> {
  await tx.query('insert into monthly_spend (account_id, month) values ($1, $2) on conflict do nothing', [
    accountId,
    month,
  ]);
  const { rows } = await tx.query<MonthlySpend>(
    `select amount_micro_usd as "amountMicroUsd", images from monthly_spend
     where account_id = $1 and month = $2 for update`,
    [accountId, month],
  );
  return rows[0] ?? { amountMicroUsd: 0, images: 0 };
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
  );
}

/**
 * What is spent in the month, and what unfinished live jobs and direct requests may cost at most;
 * micro-dollars.
 */
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

/** Images that the account was billed for in that month. */
export async function selectImagesOfMonth(db: Queryable, { accountId, month }: AccountMonth): Promise<number> {
  const { rows } = await db.query<{ images: number }>(
    'select images from monthly_spend where account_id = $1 and month = $2',
    [accountId, month],
  );
  return rows[0]?.images ?? 0;
}
