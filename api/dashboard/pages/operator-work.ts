import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { html, type Html } from '#api/dashboard/html.ts';
import { forOperator, type PageReply, type Route } from '#api/dashboard/route.ts';
import { facts, table } from '#api/dashboard/table.ts';
import { counted, duration, moment, number } from '#api/dashboard/format-values.ts';
import { countEnds, selectFailures, selectQueue, selectTools, type QueueGroup } from '#api/jobs/queue-rows.ts';
import { FORMATS, formatOfName } from '#crds/catalogue/formats.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';

const HOUR_MS = 3600 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** Pages of the queue, of failures and of tool versions. */
export const operatorWorkRoutes: readonly Route[] = [
  forOperator('GET', '/operator/queue', queuePage),
  forOperator('GET', '/operator/failures', failurePage),
  forOperator('GET', '/operator/engines', enginePage),
];

async function queuePage({ database, clock, grafanaUrl }: DashboardDeps): Promise<PageReply> {
  const now = clock.now();
  const groups = await selectQueue(database);
  const ended = await countEnds(database, new Date(now.getTime() - HOUR_MS));
  const oldest = oldestOf(groups);
  const kinds = [...Map.groupBy(groups, (group) => kindOf(group))].toSorted(([one], [other]) =>
    one.localeCompare(other),
  );
  return {
    kind: 'page',
    title: 'Queue and capacity',
    body: html`<h1>Queue and capacity</h1>
      ${facts([
        ['Queued', number(countOf(groups, 'queued'))],
        ['Processing', number(countOf(groups, 'processing'))],
        ['Oldest unfinished', oldest === null ? 'none' : html`${age(now, oldest)}, since ${moment(oldest)}`],
        [
          'Ended in the last hour',
          [...ended].map(([status, count]) => `${number(count)} ${status}`).join(', ') || 'none',
        ],
      ])}
      <p class="hint">
        A job that no engine has started after ${LIMITS.jobWaitSeconds / 60} minutes fails with <code>timeout</code>:
        add capacity before then.
      </p>
      ${table({
        caption: 'Unfinished jobs by kind, read from the file name',
        columns: ['Kind', '#Queued', '#Processing', 'Oldest'],
        rows: kinds.map(([kind, of]) => [
          kind,
          number(countOf(of, 'queued')),
          number(countOf(of, 'processing')),
          moment(oldestOf(of)),
        ]),
        empty: 'No job is queued or processing.',
      })}
      <p><a href="/dashboard/operator/jobs?state=unfinished">All unfinished jobs</a></p>
      ${grafanaLink(grafanaUrl)}`,
  };
}

/** Returns when the oldest unfinished job was created; null without one. */
function oldestOf(groups: readonly QueueGroup[]): Date | null {
  const times = groups.map(({ oldest }) => oldest.getTime());
  return times.length === 0 ? null : new Date(Math.min(...times));
}

function age(now: Date, since: Date): string {
  return duration((now.getTime() - since.getTime()) / 1000);
}

function countOf(groups: readonly QueueGroup[], status: QueueGroup['status']): number {
  return groups.filter((group) => group.status === status).reduce((sum, { count }) => sum + count, 0);
}

function kindOf({ extension }: QueueGroup): string {
  const format = formatOfName(extension === null ? null : `file.${extension}`);
  return format === null ? 'not known yet' : FORMATS[format].kind;
}

function grafanaLink(grafanaUrl: string | null): Html {
  if (grafanaUrl === null)
    return html`<p class="hint">Set <code>MEDIAJOBS_GRAFANA_URL</code> for a link to the metrics.</p>`;
  return html`<p><a class="button" href="${grafanaUrl}">Metrics in Grafana</a></p>`;
}

async function failurePage({ database, clock, docsUrl }: DashboardDeps): Promise<PageReply> {
  const since = (days: number): Date => new Date(clock.now().getTime() - days * DAY_MS);
  const [week, day] = await Promise.all([selectFailures(database, since(7)), selectFailures(database, since(1))]);
  const ofDay = new Map(day.map(({ code, count }) => [code, count]));
  const failed = week.reduce((sum, { count }) => sum + count, 0);
  return {
    kind: 'page',
    title: 'Failures',
    body: html`<h1>Failures</h1>
      <p>${counted(failed, 'job')} failed in the last 7 days.</p>
      ${table({
        caption: 'Failed jobs by code',
        columns: ['Code', '#24 hours', '#7 days', 'Latest', 'Newest job'],
        rows: week.map(({ code, count, latest, jobId, accountId }) => [
          html`<a href="${docsUrl}/reference/errors#${code}"><code>${code}</code></a>`,
          number(ofDay.get(code) ?? 0),
          html`<a href="/dashboard/operator/jobs?${new URLSearchParams({ code }).toString()}">${number(count)}</a>`,
          moment(latest),
          html`<a href="/dashboard/accounts/${accountId}/jobs/${jobId}"><code>${jobId}</code></a>`,
        ]),
        empty: 'No job failed in the last 7 days.',
      })}`,
  };
}

async function enginePage({ database, clock }: DashboardDeps): Promise<PageReply> {
  const tools = await selectTools(database, new Date(clock.now().getTime() - 7 * DAY_MS));
  return {
    kind: 'page',
    title: 'Engine versions',
    body: html`<h1>Engine versions</h1>
      <p>Tools that produced the results of the last 7 days, from their receipts.</p>
      ${table({
        caption: 'Tools and versions',
        columns: ['Tool', 'Version', 'Image', '#Jobs', 'Last used'],
        rows: tools.map(({ tool, version, image, jobs, latest }) => [
          tool,
          html`<code>${version}</code>`,
          image === null ? '–' : html`<code class="break">${image}</code>`,
          number(jobs),
          moment(latest),
        ]),
        empty: 'No job succeeded in the last 7 days.',
      })}`,
  };
}
