import { Counter, Gauge, type Registry } from 'prom-client';
import type { Queryable } from '#api/store/database.ts';
import { oldestDueDelivery } from '#api/webhooks/webhook-delivery-rows.ts';
import { scrapedFromDatabase } from '#api/store/scraped-from-database.ts';
import type { Clock } from '#crds/process/clock.ts';

/** Outcome of an attempt. `failed`: another attempt follows; `dropped`: none does. */
export type AttemptOutcome = 'delivered' | 'failed' | 'dropped';

export interface DeliveryMetrics {
  ended(outcome: AttemptOutcome, count: number): void;
}

/** Registers the metrics of webhook deliveries. */
export function makeDeliveryMetrics(
  { database, clock }: { database: Queryable; clock: Clock },
  registry: Registry,
): DeliveryMetrics {
  const attempts = new Counter({
    name: 'mediajobs_webhook_attempts_total',
    help: 'Attempts to deliver a webhook, by outcome; dropped: the last attempt failed.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  new Gauge({
    name: 'mediajobs_webhook_oldest_due_seconds',
    help: 'Time since the oldest due webhook delivery became due, in seconds; 0 when none is due.',
    registers: [registry],
    collect: scrapedFromDatabase(async (gauge) => {
      const now = clock.now();
      const oldest = await oldestDueDelivery(database, now);
      gauge.set(oldest === null ? 0 : (now.getTime() - oldest.getTime()) / 1000);
    }),
  });
  return { ended: (outcome, count) => attempts.inc({ outcome }, count) };
}
