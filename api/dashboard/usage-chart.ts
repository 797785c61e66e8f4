import { barChart } from '#api/dashboard/bar-chart.ts';
import { html, type Html } from '#api/dashboard/html.ts';
import { number, usd } from '#api/dashboard/format-values.ts';
import type { Usage } from '#api/billing/usage.ts';
import { METERS } from '#crds/catalogue/prices.ts';

const DAY_MS = 24 * 3600 * 1000;

/** Meters in the order of the bars from bottom to top. The style has a color for each. */
export const CHART_METERS = [...METERS, 'unbilled'] as const;

/** Returns a chart with a bar per day, split by meter: in dollars if anything was billed and prices are shown, else in requests. */
export function usageChart({ from, to, daily, totals }: Usage, hidesPrices: boolean): Html {
  const isMoney = totals.amount_usd > 0 && !hidesPrices;
  const byDay = new Map(daily.map((day) => [day.day, day]));
  const bars = daysFrom(from, to).map((day) => ({
    label: day,
    parts: CHART_METERS.map((meter) => {
      const used = byDay.get(day)?.meters[meter];
      return {
        name: meter.replace('_', ' '),
        style: `meter-${meter}`,
        value: (isMoney ? used?.amount_usd : used?.requests) ?? 0,
      };
    }),
  }));
  const format = (value: number): string => (isMoney ? usd(Math.round(value * 1e6) / 1e6) : number(value, 1));
  return html`${barChart({ caption: `${isMoney ? 'US dollars' : 'Requests'} by day, ${from} to ${to} (UTC)`, bars, format })}
    <ul class="legend">
      ${CHART_METERS.filter((meter) => totals.meters[meter] !== undefined).map(
        (meter) => html`<li><span class="swatch meter-${meter}"></span>${meter.replace('_', ' ')}</li>`,
      )}
    </ul>`;
}

function daysFrom(from: string, to: string): string[] {
  const count = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
  return Array.from({ length: count }, (_, index) =>
    new Date(Date.parse(from) + index * DAY_MS).toISOString().slice(0, 10),
  );
}
