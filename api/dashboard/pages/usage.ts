import { utcDay, utcMonth } from '#api/billing/calendar.ts';
import { readUsage } from '#api/billing/read-usage.ts';
import { readUsageQuery } from '#api/billing/usage-query.ts';
import { callerOf } from '#api/dashboard/caller-of.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { EMPTY_FORM, field, formProblem, refusedForm, type FormState } from '#api/dashboard/form.ts';
import { figures } from '#api/dashboard/figures.ts';
import { html, type Html } from '#api/dashboard/html.ts';
import { icon } from '#api/dashboard/icons.ts';
import { isLive, modeSwitch } from '#api/dashboard/mode-switch.ts';
import { forMember, type AccountVisit, type PageReply, type Route, type RouteReply } from '#api/dashboard/route.ts';
import { table } from '#api/dashboard/table.ts';
import { bytes, counted, number, usd } from '#api/dashboard/format-values.ts';
import { CHART_METERS, usageChart } from '#api/dashboard/usage-chart.ts';
import type { Usage } from '#api/billing/usage.ts';
import { MediaError } from '#crds/contract/media-error.ts';

const DAYS = ['from', 'to'];
const DAY_MS = 24 * 3600 * 1000;

/** Page and CSV file with the usage by day and meter. */
export const usageRoutes: readonly Route[] = [
  forMember('GET', '/accounts/:account/usage', { needs: 'read_only' }, usagePage),
  forMember('GET', '/accounts/:account/usage.csv', { needs: 'read_only' }, usageCsv),
];

async function usagePage(deps: DashboardDeps, visit: AccountVisit): Promise<PageReply> {
  const path = `/accounts/${visit.account.id}/usage`;
  const live = isLive(visit.query);
  const { usage, form } = await requestedUsage(deps, visit);
  return {
    kind: 'page',
    status: usage === null ? 400 : 200,
    title: `Usage – ${visit.account.name}`,
    body: html`<h1>Usage</h1>
      ${modeSwitch(path, live)} ${rangeLinks(deps.clock.now(), path, usage)}
      <form method="get" class="filters">
        ${formProblem(form)}
        <input type="hidden" name="mode" value="${live ? 'live' : 'test'}" />
        ${field(form, { name: 'from', label: 'From', type: 'date', required: false })}
        ${field(form, { name: 'to', label: 'To', type: 'date', required: false })}
        <button>Show</button>
      </form>
      ${usage !== null && usageSection(deps, path, usage)}`,
  };
}

function usageSection({ hidesPrices }: DashboardDeps, path: string, usage: Usage): Html {
  const { totals, daily, from, to, livemode } = usage;
  const csv = new URLSearchParams({ mode: livemode ? 'live' : 'test', from, to }).toString();
  if (daily.length === 0)
    return html`<p class="empty">
      Nothing was used from ${from} to ${to} (UTC). A request appears here a few seconds after it ends.
    </p>`;
  return html`${figures([
      ['Requests', number(totals.requests), `${number(totals.requests / daily.length, 1)} on a day with requests`],
      ...(hidesPrices ? [] : [['At unit prices', usd(totals.amount_usd), `${from} to ${to}`] as const]),
      ['Received', bytes(totals.input_bytes)],
      ['Produced', bytes(totals.output_bytes), shareOf(totals.output_bytes, totals.input_bytes)],
    ])}
    ${usageChart(usage, hidesPrices)}
    <div class="head">
      <h2>By day</h2>
      <a class="button" href="/dashboard${path}.csv?${csv}" download>${icon('download')} Download as CSV</a>
    </div>
    <div class="days">${daily.toReversed().map((day) => daySection(day, hidesPrices))}</div>`;
}

function shareOf(part: number, whole: number): string | null {
  return whole === 0 ? null : `${number((100 * part) / whole, 1)} % of what was received`;
}

/** Returns one line for a day, which opens to its meters. */
function daySection({ day, requests, amount_usd: amount, meters }: Usage['daily'][number], hidesPrices: boolean): Html {
  return html`<details>
    <summary>
      <strong>${day}</strong> <span>${counted(requests, 'request')}</span>
      ${!hidesPrices && html`<span class="number">${usd(amount)}</span>`}
    </summary>
    ${table({
      caption: `Meters on ${day} (UTC)`,
      columns: ['Meter', '#Requests', '#Quantity', ...(hidesPrices ? [] : ['#Amount'])],
      rows: CHART_METERS.flatMap((meter) => {
        const used = meters[meter];
        if (used === undefined) return [];
        const price = hidesPrices ? [] : [usd(used.amount_usd)];
        return [[meter, number(used.requests), number(used.quantity, 2), ...price]];
      }),
      empty: null,
    })}
  </details>`;
}

/** Returns links to the usual ranges, the one of the page marked. */
function rangeLinks(now: Date, path: string, usage: Usage | null): Html {
  const to = utcDay(now);
  const daysBefore = (days: number): string => utcDay(new Date(now.getTime() - days * DAY_MS));
  const ranges = [
    ['7 days', daysBefore(6)],
    ['30 days', daysBefore(29)],
    ['This month', utcMonth(now)],
  ] as const;
  const mode = usage?.livemode === false ? 'test' : 'live';
  const link = ([label, from]: (typeof ranges)[number]): Html => {
    const query = new URLSearchParams({ mode, from, to }).toString();
    const isCurrent = usage?.from === from && usage.to === to;
    return html`<a href="/dashboard${path}?${query}" ${isCurrent && html`aria-current="true"`}>${label}</a>`;
  };
  return html`<nav class="tabs" aria-label="Range">${ranges.map((range) => link(range))}</nav>`;
}

async function requestedUsage(
  deps: DashboardDeps,
  visit: AccountVisit,
): Promise<{ usage: Usage | null; form: FormState }> {
  const query = new URLSearchParams();
  for (const name of DAYS) {
    const day = visit.query.get(name) ?? '';
    if (day !== '') query.set(name, day);
  }
  try {
    const usage = await readUsage(deps, { caller: callerOf(visit, isLive(visit.query)), input: readUsageQuery(query) });
    return { usage, form: { ...EMPTY_FORM, values: new URLSearchParams({ from: usage.from, to: usage.to }) } };
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    return { usage: null, form: refusedForm(error, { values: visit.query, fields: DAYS }) };
  }
}

async function usageCsv(deps: DashboardDeps, visit: AccountVisit): Promise<RouteReply> {
  const { usage } = await requestedUsage(deps, visit);
  if (usage === null) throw new MediaError('bad_request', 'The days are not a range of at most 366 days.');
  const { hidesPrices } = deps;
  const lines = rowsOf(usage).map(({ day, meter, requests, quantity, amount }) =>
    [day, meter, requests, quantity, ...(hidesPrices ? [] : [amount])].join(','),
  );
  const columns = ['day', 'meter', 'requests', 'quantity', ...(hidesPrices ? [] : ['amount_usd'])];
  return {
    kind: 'file',
    body: `${[columns.join(','), ...lines].join('\r\n')}\r\n`,
    headers: {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': `attachment; filename="usage-${usage.livemode ? 'live' : 'test'}-${usage.from}-${usage.to}.csv"`,
    },
  };
}

function rowsOf({ daily }: Usage) {
  return daily.flatMap(({ day, meters }) =>
    CHART_METERS.flatMap((meter) => {
      const used = meters[meter];
      return used === undefined
        ? []
        : [{ day, meter, requests: used.requests, quantity: used.quantity, amount: used.amount_usd }];
    }),
  );
}
