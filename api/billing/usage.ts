import { z } from 'zod';
import { usdOf } from '#api/billing/usd.ts';
import type { DayOfMeter } from '#api/billing/usage-rows.ts';
import { METERS } from '#crds/catalogue/prices.ts';

const meterUsage = z.object({ requests: z.int(), quantity: z.number(), amount_usd: z.number() });

const counts = {
  requests: z.int(),
  amount_usd: z.number(),
  input_bytes: z.int(),
  output_bytes: z.int(),
  meters: z.partialRecord(z.enum([...METERS, 'unbilled']), meterUsage),
};

/** Response of `GET /v1/usage`: docs/reference/estimate-and-usage.md#usage. */
export const usageSchema = z
  .object({
    object: z.literal('usage'),
    livemode: z.boolean(),
    from: z.iso.date(),
    to: z.iso.date(),
    totals: z.object(counts),
    daily: z.array(z.object({ day: z.iso.date(), ...counts })),
  })
  .meta({ id: 'Usage' });
export type Usage = z.infer<typeof usageSchema>;

/** Returns the interface's usage. Totals are the sums of the days, exact to the micro-dollar. */
export function usageObject(
  rows: readonly DayOfMeter[],
  { livemode, from, to }: { livemode: boolean; from: string; to: string },
): Usage {
  const daily = [...Map.groupBy(rows, (row) => row.day)].map(([day, ofDay]) => ({ day, ...sumOf(ofDay) }));
  return { object: 'usage', livemode, from, to, totals: sumOf(rows), daily };
}

function sumOf(rows: readonly DayOfMeter[]): Usage['totals'] {
  const byMeter = Map.groupBy(rows, (row) => row.meter);
  const used = [...METERS, 'unbilled' as const].filter((meter) => byMeter.has(meter));
  return {
    requests: total(rows, 'requests'),
    amount_usd: usdOf(total(rows, 'amountMicroUsd')),
    input_bytes: total(rows, 'inputBytes'),
    output_bytes: total(rows, 'outputBytes'),
    meters: Object.fromEntries(used.map((meter) => [meter, meterOf(byMeter.get(meter) ?? [])])),
  };
}

function meterOf(rows: readonly DayOfMeter[]): z.infer<typeof meterUsage> {
  return {
    requests: total(rows, 'requests'),
    quantity: total(rows, 'quantity'),
    amount_usd: usdOf(total(rows, 'amountMicroUsd')),
  };
}

function total(rows: readonly DayOfMeter[], what: Exclude<keyof DayOfMeter, 'day' | 'meter'>): number {
  return rows.reduce((sum, row) => sum + row[what], 0);
}
