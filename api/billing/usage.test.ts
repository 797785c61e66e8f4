import { describe, expect, it } from 'vitest';
import { usageObject } from '#api/billing/usage.ts';
import type { DayOfMeter } from '#api/billing/usage-rows.ts';

const row = (day: string, meter: DayOfMeter['meter'], amountMicroUsd: number): DayOfMeter => ({
  day,
  meter,
  requests: 1,
  quantity: 2,
  amountMicroUsd,
  inputBytes: 10,
  outputBytes: 5,
});
const range = { livemode: true, from: '2026-01-01', to: '2026-01-31' };

describe('usageObject', () => {
  it('sums days and totals by meter, exact to the micro-dollar', () => {
    const rows = [
      row('2026-01-01', 'images', 100_000),
      row('2026-01-01', 'pdfs', 200_000),
      row('2026-01-02', 'images', 1),
    ];
    const { totals, daily } = usageObject(rows, range);
    expect(totals).toEqual({
      requests: 3,
      amount_usd: 0.300001,
      input_bytes: 30,
      output_bytes: 15,
      meters: {
        images: { requests: 2, quantity: 4, amount_usd: 0.100001 },
        pdfs: { requests: 1, quantity: 2, amount_usd: 0.2 },
      },
    });
    expect(daily.map(({ day, amount_usd: amount }) => [day, amount])).toEqual([
      ['2026-01-01', 0.3],
      ['2026-01-02', 0.000001],
    ]);
  });

  it('is 0 without rows', () => {
    const totals = { requests: 0, amount_usd: 0, input_bytes: 0, output_bytes: 0, meters: {} };
    expect(usageObject([], range)).toEqual({ object: 'usage', ...range, totals, daily: [] });
  });
});
