import { searchAccounts } from '#api/accounts/account-list-rows.ts';
import { utcMonth } from '#api/billing/calendar.ts';
import { barChart } from '#api/dashboard/bar-chart.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { figures } from '#api/dashboard/figures.ts';
import { ago, number } from '#api/dashboard/format-values.ts';
import { html, type Html } from '#api/dashboard/html.ts';
import { forOperator, type PageReply, type Route } from '#api/dashboard/route.ts';
import { table } from '#api/dashboard/table.ts';
import { countEndsByHour } from '#api/jobs/job-count-rows.ts';
import { selectFailures, selectQueue } from '#api/jobs/queue-rows.ts';
import { selectDeliveries } from '#api/webhooks/delivery-record-rows.ts';

const HOURS = 24;
const HOUR_MS = 3600 * 1000;
const MAX_CODES = 5;
const MAX_DROPPED = 100;
const ENDS = ['succeeded', 'failed', 'canceled'] as const;

/** Start page of operators: queue, failures and throughput of a day. */
export const operatorOverviewRoutes: readonly Route[] = [forOperator('GET', '/operator', overview)];

type Ends = Awaited<ReturnType<typeof countEndsByHour>>;

async function overview({ database, clock }: DashboardDeps): Promise<PageReply> {
  const now = clock.now();
  const since = new Date(Math.floor(now.getTime() / HOUR_MS) * HOUR_MS - (HOURS - 1) * HOUR_MS);
  const [queue, ends, failures, dropped] = await Promise.all([
    selectQueue(database),
    countEndsByHour(database, since),
    selectFailures(database, since),
    selectDeliveries(database, { accountId: null, state: 'dropped', limit: MAX_DROPPED }),
  ]);
  const count = (status: string): number =>
    queue.filter((group) => group.status === status).reduce((sum, group) => sum + group.count, 0);
  const oldest = queue.length === 0 ? null : new Date(Math.min(...queue.map((group) => group.oldest.getTime())));
  const ended = sum(ends);
  const accounts = await searchAccounts(database, { text: '', month: utcMonth(now), offset: 0, limit: 1 });
  const failed = sum(ends.filter(({ status }) => status === 'failed'));
  return {
    kind: 'page',
    title: 'Overview',
    body: html`<h1>The installation</h1>
      ${
        accounts.length === 0 &&
        html`<p class="empty">No account yet. <a href="/dashboard/operator/accounts">Create the first one</a>.</p>`
      }
      ${figures([
        [
          'Queued',
          number(count('queued')),
          html`<a href="/dashboard/operator/jobs?state=unfinished">${number(count('processing'))} processing</a>`,
        ],
        ['Oldest unfinished job', ago(oldest, 'none'), 'since it was created'],
        ['Ended in 24 hours', number(ended), `${number(ended / HOURS, 1)} an hour`],
        [
          'Failed in 24 hours',
          failed === 0 ? '0' : html`<span class="failed">${number(failed)}</span>`,
          html`<a href="/dashboard/operator/failures"
            >${ended === 0 ? 0 : number((100 * failed) / ended, 1)} % of all</a
          >`,
        ],
        [
          'Dropped deliveries',
          dropped.length === 0
            ? '0'
            : html`<span class="failed"
                >${dropped.length === MAX_DROPPED ? `${MAX_DROPPED} or more` : dropped.length}</span
              >`,
          html`<a href="/dashboard/operator/deliveries">of 30 days</a>`,
        ],
      ])}
      ${throughput(ends, since)}
      <h2>Failures of 24 hours</h2>
      ${table({
        caption: 'The most frequent codes',
        columns: ['Code', '#Jobs', 'Latest', 'Newest job'],
        rows: failures
          .slice(0, MAX_CODES)
          .map(({ code, count: jobs, latest, jobId, accountId }) => [
            html`<code>${code}</code>`,
            html`<a href="/dashboard/operator/jobs?${new URLSearchParams({ code }).toString()}">${number(jobs)}</a>`,
            ago(latest),
            html`<a href="/dashboard/accounts/${accountId}/jobs/${jobId}"><code>${jobId}</code></a>`,
          ]),
        empty: 'No job failed.',
      })}`,
  };
}

function sum(ends: Ends): number {
  return ends.reduce((total, { count }) => total + count, 0);
}

function throughput(ends: Ends, since: Date): Html {
  const byHour = Map.groupBy(ends, ({ hour }) => hour.getTime());
  const bars = Array.from({ length: HOURS }, (_, index) => {
    const hour = since.getTime() + index * HOUR_MS;
    const of = byHour.get(hour) ?? [];
    return {
      label: `${new Date(hour).toISOString().slice(11, 16)} UTC`,
      parts: ENDS.map((status) => ({
        name: status,
        style: `bar-${status}`,
        value: sum(of.filter((one) => one.status === status)),
      })),
    };
  });
  return html`${barChart({ caption: 'Jobs that ended, by hour', bars, format: (value) => number(value, 1) })}
    <ul class="legend">
      ${ENDS.map((status) => html`<li><span class="swatch bar-${status}"></span>${status}</li>`)}
    </ul>`;
}
