/**
 * Records one piece of work: its row in the ledger and, when it is billed, its price in the month's sum, atomically.
 * The sum of the ledger and the monthly sums are always equal.
 */
import { utcDay, utcMonth } from '#api/billing/calendar.ts';
import { findCharge, insertCharge, insertLedgerRow, lockMonth, type LedgerRow } from '#api/billing/ledger-rows.ts';
import { unitsOfWork } from '#api/billing/price.ts';
import type { Queryable } from '#api/store/database.ts';
import type { Operation } from '#crds/catalogue/formats.ts';
import { PRICE_BOOK, priceOf } from '#crds/catalogue/prices.ts';
import type { EngineResult } from '#crds/contract/result.ts';
import type { Clock } from '#crds/process/clock.ts';

/** Direct request (`req_…`) or job (`job_…`); a job's row has these fields. */
export interface CountedWork {
  readonly id: string;
  readonly accountId: string;
  readonly livemode: boolean;
  readonly operation: Operation;
  /** Bytes received; null when none were. */
  readonly inputSize: number | null;
  /** null: it failed or was canceled, and is free. */
  readonly result: EngineResult | null;
  /** null: now. */
  readonly completedAt: Date | null;
}

export interface Charge {
  readonly billed: boolean;
  readonly meter: LedgerRow['meter'];
  readonly quantity: number;
  readonly amountMicroUsd: number;
}

/**
 * Records the work and returns its charge. A second call for the same id changes nothing and returns the first charge.
 * @param onLastChange - Called when the last change was sent: what it sends is part of the same round trip.
 */
export async function recordWork(
  { clock }: { readonly clock: Clock },
  tx: Queryable,
  work: CountedWork,
  onLastChange: () => void = () => undefined,
): Promise<Charge> {
  const at = work.completedAt ?? clock.now();
  const { meter, quantity } = unitsOfWork(PRICE_BOOK, work);
  const row = rowOf(work, at);
  if (meter === 'unbilled') {
    const inserting = insertLedgerRow(tx, { ...row, meter, quantity, amountMicroUsd: 0 });
    onLastChange();
    return (await inserting) ? { billed: false, meter, quantity, amountMicroUsd: 0 } : earlierCharge(tx, work.id);
  }
  const month = { accountId: work.accountId, month: utcMonth(at) };
  const { images } = await lockMonth(tx, month);
  const amountMicroUsd = priceOf(PRICE_BOOK, meter, quantity, images);
  const charged = { month: month.month, images: meter === 'images' ? quantity : 0 };
  const charging = insertCharge(tx, { ...row, meter, quantity, amountMicroUsd }, charged);
  onLastChange();
  if (!(await charging)) return earlierCharge(tx, work.id);
  return { billed: true, meter, quantity, amountMicroUsd };
}

function rowOf(work: CountedWork, at: Date): Omit<LedgerRow, 'meter' | 'quantity' | 'amountMicroUsd'> {
  const { id, accountId, livemode, operation, inputSize, result } = work;
  return {
    sourceId: id,
    accountId,
    livemode,
    day: utcDay(at),
    operation,
    kind: result?.kind ?? null,
    inputBytes: result?.original_size ?? inputSize ?? 0,
    outputBytes: result?.output_size ?? 0,
    at,
  };
}

async function earlierCharge(tx: Queryable, sourceId: string): Promise<Charge> {
  const charge = await findCharge(tx, sourceId);
  if (charge === null) throw new Error(`ledger row ${sourceId} was neither inserted nor found`);
  return { ...charge, billed: charge.meter !== 'unbilled' };
}
