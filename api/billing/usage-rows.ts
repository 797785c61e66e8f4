/** SQL of usage: the ledger's sums by day and meter. The ledger's trigger updates them in each transaction. */
import type { LedgerRow } from '#api/billing/ledger-rows.ts';
import type { Queryable } from '#api/store/database.ts';

/** Sums of one meter on one UTC day. */
export interface DayOfMeter {
  /** YYYY-MM-DD. */
  readonly day: string;
  readonly meter: LedgerRow['meter'];
  readonly requests: number;
  readonly quantity: number;
  readonly amountMicroUsd: number;
  readonly inputBytes: number;
  readonly outputBytes: number;
}

/** Returns the days with at least one request, oldest first; both ends included. */
export async function selectUsage(
  db: Queryable,
  { accountId, livemode, from, to }: { accountId: string; livemode: boolean; from: string; to: string },
): Promise<readonly DayOfMeter[]> {
  return db.selectRows<DayOfMeter>(
    `select day, meter, requests, quantity, amount_micro_usd as "amountMicroUsd", input_bytes as "inputBytes",
       output_bytes as "outputBytes"
     from usage_days where account_id = $1 and livemode = $2 and day between $3 and $4 order by day, meter`,
    [accountId, livemode, from, to],
  );
}
