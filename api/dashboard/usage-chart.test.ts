import { describe, expect, it } from 'vitest';
import type { DayOfMeter } from '#api/billing/usage-rows.ts';
import { usageObject } from '#api/billing/usage.ts';
import { usageChart } from '#api/dashboard/usage-chart.ts';

const ROW: DayOfMeter = {
  day: '2026-02-28',
  meter: 'images',
  requests: 3,
  quantity: 3,
  amountMicroUsd: 6000,
  inputBytes: 10,
  outputBytes: 5,
};
const chartOf = (rows: readonly DayOfMeter[], hidesPrices = false): string =>
  usageChart(usageObject(rows, { livemode: true, from: '2026-02-27', to: '2026-03-02' }), hidesPrices).markup;

describe('the chart of the usage', () => {
  it('has a bar for each day, also for those without requests', () => {
    const chart = chartOf([ROW]);
    for (const day of ['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02']) expect(chart).toContain(day);
    expect(chart).not.toContain('2026-03-03');
  });

  it('is in dollars when something was billed', () => {
    expect(chartOf([ROW])).toContain('US dollars by day, 2026-02-27 to 2026-03-02 (UTC)');
    expect(chartOf([ROW])).toContain('images: $0.006');
  });

  it('is in requests when nothing was billed, or prices are hidden', () => {
    const free = { ...ROW, meter: 'unbilled', amountMicroUsd: 0 } as const;
    for (const chart of [chartOf([free]), chartOf([ROW], true)]) {
      expect(chart).toContain('Requests by day');
      expect(chart).not.toContain('$');
    }
  });

  it('has a legend of the meters that were used', () => {
    const chart = chartOf([ROW, { ...ROW, meter: 'unbilled', amountMicroUsd: 0 }]);
    expect([...chart.matchAll(/swatch meter-(\w+)/g)].map(([, meter]) => meter)).toEqual(['images', 'unbilled']);
  });
});
