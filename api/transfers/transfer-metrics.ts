import { Counter, Gauge, type Registry } from 'prom-client';
import type { Queryable } from '#api/store/database.ts';
import { oldestDueTransfer, type Direction } from '#api/transfers/transfer-rows.ts';
import { scrapedFromDatabase } from '#api/store/scraped-from-database.ts';
import type { Clock } from '#crds/process/clock.ts';

export interface TransferMetrics {
  ended(direction: Direction, outcome: 'succeeded' | 'failed' | 'retried'): void;
}

/** Registers and returns the metrics of transfers. */
export function makeTransferMetrics(
  { database, clock }: { database: Queryable; clock: Clock },
  registry: Registry,
): TransferMetrics {
  const attempts = new Counter({
    name: 'mediajobs_transfer_attempts_total',
    help: 'Attempts to fetch input.url or to upload to output.url, by direction and outcome; after failed there is no further attempt.',
    labelNames: ['direction', 'outcome'],
    registers: [registry],
  });
  new Gauge({
    name: 'mediajobs_transfer_oldest_due_seconds',
    help: 'Time since the oldest due transfer became due, in seconds; 0 when none is due.',
    registers: [registry],
    collect: scrapedFromDatabase(async (gauge) => {
      const now = clock.now();
      const oldest = await oldestDueTransfer(database, now);
      gauge.set(oldest === null ? 0 : (now.getTime() - oldest.getTime()) / 1000);
    }),
  });
  return { ended: (direction, outcome) => attempts.inc({ direction, outcome }) };
}
