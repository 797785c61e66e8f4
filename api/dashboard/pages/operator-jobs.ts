import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { EMPTY_FORM, field, type FormState } from '#api/dashboard/form.ts';
import { ago, bytes } from '#api/dashboard/format-values.ts';
import { html, type Content, type Html } from '#api/dashboard/html.ts';
import { jobState } from '#api/dashboard/job-state.ts';
import { forOperator, type PageReply, type Route, type RouteReply, type UserVisit } from '#api/dashboard/route.ts';
import { table } from '#api/dashboard/table.ts';
import { findJob } from '#api/jobs/job-rows.ts';
import { selectFailedJobs, selectUnfinishedJobs, type OperatorJob } from '#api/jobs/operator-job-rows.ts';

const PAGE_SIZE = 50;
const DAYS = 7;
const DAY_MS = 24 * 3600 * 1000;
const PATH = '/operator/jobs';

/** Page with the failed or the unfinished jobs of all accounts, and the search for a job by its id. */
export const operatorJobRoutes: readonly Route[] = [forOperator('GET', PATH, jobPage)];

async function jobPage(deps: DashboardDeps, visit: UserVisit): Promise<RouteReply> {
  const id = (visit.query.get('id') ?? '').trim().toLowerCase();
  if (id === '') return listPage(deps, visit, EMPTY_FORM);
  const job = await findJob(deps.database, id);
  if (job !== null) return { kind: 'redirect', to: `/accounts/${job.accountId}/jobs/${job.id}` };
  const problem = `There is no job ${id.slice(0, 40)}. A record is kept for 30 days after its end.`;
  const page = await listPage(deps, visit, { values: visit.query, problems: { id: problem } });
  return { ...page, status: 404 };
}

/** One of the lists of the page. */
interface JobList {
  readonly state: 'failed' | 'unfinished';
  readonly caption: string;
  /** Title of the column with the time by which the list is sorted. */
  readonly time: string;
  readonly empty: string;
  /** Label of the link to the next page. */
  readonly next: string;
  readonly select: (
    deps: Pick<DashboardDeps, 'database' | 'clock'>,
    page: { readonly code: string | null; readonly from: string | null; readonly limit: number },
  ) => Promise<readonly OperatorJob[]>;
}

const FAILED: JobList = {
  state: 'failed',
  caption: `Failed jobs of ${DAYS} days, newest first`,
  time: 'Failed',
  empty: `No job failed in the last ${DAYS} days.`,
  next: 'Older',
  select: ({ database, clock }, { code, from, limit }) =>
    selectFailedJobs(database, {
      since: new Date(clock.now().getTime() - DAYS * DAY_MS),
      code,
      before: from,
      limit,
    }),
};
const UNFINISHED: JobList = {
  state: 'unfinished',
  caption: 'Unfinished jobs, oldest first',
  time: 'Created',
  empty: 'No job is queued or processing.',
  next: 'Newer',
  select: ({ database }, { from, limit }) => selectUnfinishedJobs(database, { after: from, limit }),
};

async function listPage(deps: DashboardDeps, { query }: UserVisit, form: FormState): Promise<PageReply> {
  const list = query.get('state') === 'unfinished' ? UNFINISHED : FAILED;
  const code = list === FAILED ? query.get('code') : null;
  const found = await list.select(deps, { code, from: query.get('from'), limit: PAGE_SIZE + 1 });
  const jobs = found.slice(0, PAGE_SIZE);
  const last = found.length > PAGE_SIZE ? jobs.at(-1) : undefined;
  const tab = ({ state }: JobList): Html =>
    html`<a href="${linkTo({ state })}" ${list.state === state && code === null && html`aria-current="true"`}
      >${state}</a
    >`;
  return {
    kind: 'page',
    title: 'Jobs',
    body: html`<h1>Jobs of all accounts</h1>
      <form method="get" class="filters" role="search">
        ${field(form, { name: 'id', label: 'Job id', type: 'search' })}
        <button>Open the job</button>
      </form>
      <nav class="tabs" aria-label="State">${tab(FAILED)} ${tab(UNFINISHED)}</nav>
      ${code !== null && html`<p>With the code <code class="break">${code}</code>.</p>`}
      ${table({
        caption: list.caption,
        columns: ['Job', 'Status', 'Account', 'Operation', '#Size', list.time],
        rows: jobs.map((job) => cells(job)),
        empty: list.empty,
      })}
      <p class="hint">
        A job shows its record: times, options, error and deliveries. Files and the links to them are for members of its
        account.
      </p>
      ${last !== undefined && nextPage(list, { state: list.state, ...(code !== null && { code }), from: last.id })}`,
  };
}

function nextPage({ next }: JobList, page: Readonly<Record<string, string>>): Html {
  return html`<nav class="pager" aria-label="Pages"><a class="button" href="${linkTo(page)}">${next}</a></nav>`;
}

function linkTo(query: Readonly<Record<string, string>>): string {
  return `/dashboard${PATH}?${new URLSearchParams(query).toString()}`;
}

function cells(job: OperatorJob): readonly Content[] {
  const { id, accountId, accountName, error, operation, inputSize, completedAt, createdAt } = job;
  return [
    html`<a href="/dashboard/accounts/${accountId}/jobs/${id}"><code>${id}</code></a>`,
    html`${jobState({ ...job, progress: { percent: job.percent } })}
    ${error !== null && html`<code class="sub">${error.code}</code>`}`,
    html`<a class="break" href="/dashboard/operator/accounts/${accountId}">${accountName}</a>`,
    operation.replace('_', ' '),
    bytes(inputSize),
    ago(completedAt ?? createdAt),
  ];
}
