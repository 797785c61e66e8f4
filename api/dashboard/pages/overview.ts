import { selectKeys, type KeyRow } from '#api/accounts/key-rows.ts';
import { utcDay, utcMonth } from '#api/billing/calendar.ts';
import { hasUsage, selectSavings, type Savings } from '#api/billing/savings-rows.ts';
import { spendCapOf } from '#api/billing/spend-cap.ts';
import { usdOf } from '#api/billing/usd.ts';
import { callerOf } from '#api/dashboard/caller-of.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { HEALTH_DAYS } from '#api/dashboard/endpoint-health.ts';
import { figures } from '#api/dashboard/figures.ts';
import { ago, bytes, counted, number, usd } from '#api/dashboard/format-values.ts';
import { html, type Content, type Html } from '#api/dashboard/html.ts';
import { icon } from '#api/dashboard/icons.ts';
import { jobState } from '#api/dashboard/job-state.ts';
import { monthSpending } from '#api/dashboard/month-spending.ts';
import { forMember, type AccountVisit, type PageReply, type Route } from '#api/dashboard/route.ts';
import { table } from '#api/dashboard/table.ts';
import { countJobsByStatus, hasJobs } from '#api/jobs/job-count-rows.ts';
import { JOB_STATUSES, type JobStatus } from '#api/jobs/job.ts';
import { readJobListQuery } from '#api/jobs/job-list-query.ts';
import { jobObject, type JobObject } from '#api/jobs/job-object.ts';
import { listJobs } from '#api/jobs/read-jobs.ts';
import { isAtLeast } from '#api/users/user.ts';
import { isFailing, selectEndpointHealth, type EndpointHealth } from '#api/webhooks/endpoint-health-rows.ts';
import { selectWebhookEndpoints } from '#api/webhooks/webhook-endpoint-rows.ts';

const LATEST_JOBS = 5;
const DAY_MS = 24 * 3600 * 1000;

/** Start page of an account: what happens today, what it costs, and what fails. */
export const overviewRoutes: readonly Route[] = [
  forMember('GET', '/accounts/:account', { needs: 'read_only' }, overview),
];

async function overview(deps: DashboardDeps, visit: AccountVisit): Promise<PageReply> {
  const { database, clock } = deps;
  const { id: accountId, name } = visit.account;
  const now = clock.now();
  const base = `/dashboard/accounts/${accountId}`;
  const today = await countJobsByStatus(database, { accountId, since: new Date(utcDay(now)) });
  const savings = await selectSavings(database, { accountId, from: utcMonth(now) });
  const spending = await monthSpending(deps, accountId);
  const since = new Date(now.getTime() - HEALTH_DAYS * DAY_MS);
  const health = await selectEndpointHealth(database, { accountId, since });
  const keys = (await selectKeys(database, accountId)).filter(({ revokedAt }) => revokedAt === null);
  const latest = await latestJobs(deps, visit);
  return {
    kind: 'page',
    title: `Overview – ${name}`,
    spending,
    body: html`<h1>${name}</h1>
      <p class="identity">
        <code id="account-id">${accountId}</code>
        <button type="button" class="copy" data-copy="account-id">${icon('copy')} Copy the id</button>
      </p>
      ${figures([
        jobsFigure(base, today),
        savingsFigure(savings),
        ...(deps.hidesPrices ? [] : [spendFigure(visit, base, spending.spent)]),
        webhookFigure(base, health),
        keyFigure(base, keys),
      ])}
      ${await stepsSection(deps, visit, { base, keys, health })}
      <h2>Latest jobs</h2>
      ${table({
        caption: `The newest ${LATEST_JOBS} live jobs`,
        columns: ['File', 'Status', '#Size', 'Created'],
        rows: latest.map((job) => [
          html`<a class="break" href="${base}/jobs/${job.id}">${job.input.filename ?? job.id}</a>`,
          jobState(job),
          bytes(job.input.size),
          ago(job.created_at),
        ]),
        empty: html`No job yet. Send one with the <a href="${base}/quick-start">quick start</a>.`,
      })}`,
  };
}

async function latestJobs(deps: DashboardDeps, visit: AccountVisit): Promise<readonly JobObject[]> {
  const { jobs } = await listJobs(deps, {
    caller: callerOf(visit),
    input: { ...readJobListQuery(new URLSearchParams()), limit: LATEST_JOBS },
  });
  return jobs.map((job) => jobObject(deps, job));
}

type Figure = readonly [string, Content, Content];

function jobsFigure(base: string, today: ReadonlyMap<JobStatus, number>): Figure {
  const total = [...today.values()].reduce((sum, count) => sum + count, 0);
  const states = JOB_STATUSES.filter((status) => today.has(status)).map(
    (status) =>
      html`<a class="${status}" href="${base}/jobs?status=${status}">${number(today.get(status) ?? 0)} ${status}</a> `,
  );
  return ['Jobs today (UTC)', number(total), states.length === 0 ? 'none with a live key' : html`${states}`];
}

function savingsFigure({ inputBytes, outputBytes }: Savings): Figure {
  if (inputBytes === 0) return ['Saved this month', '–', 'nothing compressed yet'];
  const share = (100 * (inputBytes - outputBytes)) / inputBytes;
  return ['Saved this month', `${number(share, 1)} %`, `${bytes(inputBytes)} → ${bytes(outputBytes)}`];
}

function spendFigure({ account }: AccountVisit, base: string, spent: number): Figure {
  const cap = spendCapOf(account);
  const share = cap === 0 ? 100 : Math.min(100, Math.round((100 * spent) / cap));
  return [
    'Spent this month',
    usd(usdOf(spent)),
    html`<progress max="100" value="${share}" aria-label="Share of the spend cap"></progress>
      <a href="${base}/plan">${share} % of ${usd(usdOf(cap))}</a>`,
  ];
}

function webhookFigure(base: string, health: readonly EndpointHealth[]): Figure {
  const failing = health.filter((one) => isFailing(one)).length;
  const delivered = health.reduce((sum, one) => sum + one.delivered, 0);
  const dropped = health.reduce((sum, one) => sum + one.dropped, 0);
  return [
    'Failing webhooks',
    failing === 0 ? '0' : html`<span class="failed">${number(failing)}</span>`,
    html`<a href="${base}/webhooks"
      >${counted(delivered, 'event')} delivered${dropped > 0 && `, ${number(dropped)} dropped`} in ${HEALTH_DAYS}
      days</a
    >`,
  ];
}

function keyFigure(base: string, keys: readonly KeyRow[]): Figure {
  const times = keys.flatMap(({ lastUsedAt }) => (lastUsedAt === null ? [] : [lastUsedAt.getTime()]));
  const last = times.length === 0 ? null : new Date(Math.max(...times));
  return ['Active keys', number(keys.length), html`<a href="${base}/keys">last used ${ago(last, 'never')}</a>`];
}

interface StepFacts {
  readonly base: string;
  readonly keys: readonly KeyRow[];
  readonly health: readonly EndpointHealth[];
}

/** Returns the steps to the first verified webhook, until all of them are done. */
async function stepsSection(
  { database }: DashboardDeps,
  { account, role }: AccountVisit,
  { base, keys, health }: StepFacts,
): Promise<Html | null> {
  const endpoints = await selectWebhookEndpoints(database, account.id);
  const steps: readonly (readonly [boolean, string, string])[] = [
    [keys.length > 0, 'Create a key', `${base}/keys`],
    [await hasUsage(database, account.id), 'Process a file', `${base}/playground`],
    [await hasJobs(database, account.id), 'Create a job', `${base}/quick-start#jobs`],
    [endpoints.length > 0, 'Add a webhook endpoint', `${base}/webhooks`],
    [health.some(({ delivered }) => delivered > 0), 'Receive an event', `${base}/webhooks`],
  ];
  const done = steps.filter(([isDone]) => isDone).length;
  if (done === steps.length) return null;
  const mayDo = isAtLeast(role, 'developer') && !account.suspended;
  const step = ([isDone, label, link]: (typeof steps)[number]): Content => {
    if (isDone) return `${label}: done`;
    return mayDo ? html`<a href="${link}">${label}</a>` : label;
  };
  return html`<section class="card">
    <h2>Quick start: ${done} of ${steps.length} steps</h2>
    <ol class="steps">
      ${steps.map(
        (one) =>
          html`<li class="${one[0] ? 'done' : 'open'}">
            ${icon(one[0] ? 'good' : 'open')} <span>${step(one)}</span>
          </li>`,
      )}
    </ol>
  </section>`;
}
