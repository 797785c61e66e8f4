import { html, type Html } from '#api/dashboard/html.ts';
import { number, usd } from '#api/dashboard/format-values.ts';
import type { Usage } from '#api/billing/usage.ts';
import { METERS } from '#crds/catalogue/prices.ts';

const WIDTH = 720;
const HEIGHT = 200;
const DAY_MS = 24 * 3600 * 1000;

/** Meters in the order of the bars from bottom to top. The style has a color for each. */
export const CHART_METERS = [...METERS, 'unbilled'] as const;

/** Returns a chart with a bar per day, split by meter: in dollars if anything was billed, else in requests. */
export function usageChart({ from, to, daily, totals }: Usage): Html {
  const isMoney = totals.amount_usd > 0;
  const byDay = new Map(daily.map((day) => [day.day, day]));
  const days = daysFrom(from, to);
  const width = WIDTH / days.length;
  const max = Math.max(...daily.map((day) => (isMoney ? day.amount_usd : day.requests)), 0);
  const format = (value: number): string => (isMoney ? usd(value) : number(value));
  const bars = days.flatMap((day, index) => {
    let top = HEIGHT;
    return CHART_METERS.flatMap((meter) => {
      const used = byDay.get(day)?.meters[meter];
      const value = (isMoney ? used?.amount_usd : used?.requests) ?? 0;
      if (value === 0) return [];
      const height = (value / max) * (HEIGHT - 10);
      top -= height;
      return [
        html`<rect
          class="meter-${meter}"
          x="${(index * width + width * 0.1).toFixed(1)}"
          y="${top.toFixed(1)}"
          width="${(width * 0.8).toFixed(1)}"
          height="${height.toFixed(1)}"
          ><title>${day}, ${meter}: ${format(value)}</title></rect
        >`,
      ];
    });
  });
  const label = `${isMoney ? 'US dollars' : 'Requests'} by day, ${from} to ${to}; the highest day has ${format(max)}.`;
  return html`<figure class="chart">
    <figcaption>${label}</figcaption>
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}" preserveAspectRatio="none">
      <line x1="0" y1="${HEIGHT}" x2="${WIDTH}" y2="${HEIGHT}" class="axis"></line>
      ${bars}
    </svg>
    <ul class="legend">
      ${CHART_METERS.filter((meter) => totals.meters[meter] !== undefined).map(
        (meter) => html`<li><span class="swatch meter-${meter}"></span>${meter}</li>`,
      )}
    </ul>
  </figure>`;
}

function daysFrom(from: string, to: string): string[] {
  const count = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
  return Array.from({ length: count }, (_, index) =>
    new Date(Date.parse(from) + index * DAY_MS).toISOString().slice(0, 10),
  );
}
