import { callerOf } from '#api/dashboard/caller-of.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { field, formProblem, refusedForm, type FormState } from '#api/dashboard/form.ts';
import { html, type Content, type Html } from '#api/dashboard/html.ts';
import { jobState } from '#api/dashboard/job-state.ts';
import { isLive, modeSwitch } from '#api/dashboard/mode-switch.ts';
import { forMember, type AccountVisit, type PageReply, type Route } from '#api/dashboard/route.ts';
import { table } from '#api/dashboard/table.ts';
import { ago, bytes, duration, number } from '#api/dashboard/format-values.ts';
import { JOB_STATUSES } from '#api/jobs/job.ts';
import { jobObject, type JobObject } from '#api/jobs/job-object.ts';
import { readJobListQuery } from '#api/jobs/job-list-query.ts';
import { listJobs } from '#api/jobs/read-jobs.ts';
import { OPERATIONS } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';

const PAGE_SIZE = 25;
/** Maximum length of a search text. */
const MAX_SEARCH = 200;
const FILTERS = ['status', 'operation', 'created_after', 'created_before'] as const;

/** Page with the jobs of an account, newest first. */
export const jobListRoutes: readonly Route[] = [
  forMember('GET', '/accounts/:account/jobs', { needs: 'read_only' }, jobListPage),
];

interface JobMatches {
  readonly jobs: readonly JobObject[];
  readonly hasMore: boolean;
}

async function jobListPage(deps: DashboardDeps, visit: AccountVisit): Promise<PageReply> {
  const live = isLive(visit.query);
  const path = `/accounts/${visit.account.id}/jobs`;
  const { found, form } = await search(deps, visit);
  return {
    kind: 'page',
    status: found === null ? 400 : 200,
    title: `Jobs – ${visit.account.name}`,
    body: html`<h1>Jobs</h1>
      ${modeSwitch(path, live)} ${filters(form, live)} ${found !== null && list(visit, path, found)}`,
  };
}

async function search(
  deps: DashboardDeps,
  visit: AccountVisit,
): Promise<{ found: JobMatches | null; form: FormState }> {
  const values = visit.query;
  try {
    const text = (values.get('search') ?? '').trim().slice(0, MAX_SEARCH);
    const input = { ...readJobListQuery(apiQuery(values)), text: text === '' ? null : text };
    const { jobs, hasMore } = await listJobs(deps, { caller: callerOf(visit, isLive(values)), input });
    const found = { jobs: jobs.map((job) => jobObject(deps, job)), hasMore };
    return { found, form: { values, problems: {} } };
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    return { found: null, form: refusedForm(error, { values, fields: FILTERS }) };
  }
}

/** Returns the query of `GET /v1/jobs` for the filters of the page; a day stands for its start in UTC. */
function apiQuery(values: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams({ limit: String(PAGE_SIZE) });
  for (const name of [...FILTERS, 'starting_after', 'ending_before']) {
    const value = values.get(name) ?? '';
    const isDay = name.startsWith('created_') && /^\d{4}-\d\d-\d\d$/.test(value);
    if (value !== '') query.set(name, isDay ? `${value}T00:00:00Z` : value);
  }
  return query;
}

function filters(form: FormState, live: boolean): Html {
  const choices = (all: string, values: readonly string[]) =>
    [['', all], ...values.map((value) => [value, value.replace('_', ' ')])] as [string, string][];
  return html`<form method="get" class="filters" role="search">
    ${formProblem(form)}
    <input type="hidden" name="mode" value="${live ? 'live' : 'test'}" />
    ${field(form, { name: 'search', label: 'File name, id or metadata', type: 'search', required: false })}
    ${field(form, { name: 'status', label: 'Status', choices: choices('any', JOB_STATUSES), required: false })}
    ${field(form, { name: 'operation', label: 'Operation', choices: choices('any', OPERATIONS), required: false })}
    ${field(form, { name: 'created_after', label: 'Created from', type: 'date', required: false })}
    ${field(form, { name: 'created_before', label: 'Created before', type: 'date', required: false })}
    <button>Filter</button>
  </form>`;
}

function list(visit: AccountVisit, path: string, { jobs, hasMore }: JobMatches): Html {
  const unfinished = jobs.filter(({ completed_at }) => completed_at === null).map(({ id }) => id);
  const live = `/dashboard${path}/live?${new URLSearchParams({ ids: unfinished.join(',') }).toString()}`;
  return html`<div ${unfinished.length > 0 && html`data-live="${live}"`}>
      ${table({
        caption: 'Jobs, newest first',
        columns: ['File', 'Status', 'Operation', '#Size', '#Saved', '#Took', 'Created'],
        rows: jobs.map((job) => cells(path, job)),
        empty: emptyList(visit, path),
      })}
    </div>
    ${pager(path, visit.query, { jobs, hasMore })}`;
}

function emptyList({ query, account }: AccountVisit, path: string): Html {
  const mode = query.get('mode') === 'test' ? 'test' : 'live';
  if ([...FILTERS, 'search'].some((name) => (query.get(name) ?? '') !== ''))
    return html`No job of the last 30 days matches. <a href="/dashboard${path}?mode=${mode}">Show all ${mode} jobs</a>`;
  return html`No ${mode} job yet. Jobs are created through the API; the
    <a href="/dashboard/accounts/${account.id}/quick-start#jobs">quick start</a> shows how.`;
}

function cells(path: string, job: JobObject): readonly Content[] {
  const link = `/dashboard${path}/${job.id}`;
  return [
    html`<a class="break" href="${link}">${job.input.filename ?? 'no name'}</a>
      <a class="sub" href="${link}"><code>${job.id}</code></a>`,
    html`${jobState(job)} ${job.error !== null && html`<code class="sub">${job.error.code}</code>`}`,
    html`<span class="state">${job.operation.replace('_', ' ')}</span>`,
    bytes(job.input.size),
    savings(job.result),
    tookSeconds(job),
    ago(job.created_at),
  ];
}

function savings(result: JobObject['result']): string {
  if (result === null) return '–';
  return result.kept_original ? 'original kept' : `${number(result.savings_percent, 1)} %`;
}

function tookSeconds({ started_at: start, completed_at: end }: JobObject): string {
  if (start === null || end === null) return '–';
  const seconds = (Date.parse(end) - Date.parse(start)) / 1000;
  return seconds < 10 ? `${number(seconds, 1)} s` : duration(seconds);
}

function pager(path: string, values: URLSearchParams, { jobs, hasMore }: JobMatches): Html {
  const isBack = (values.get('ending_before') ?? '') !== '';
  const isLater = (values.get('starting_after') ?? '') !== '';
  const link = (cursor: string, id: string | undefined, label: string): Html | null => {
    if (id === undefined) return null;
    const query = new URLSearchParams(
      [...values].filter(([name]) => name !== 'starting_after' && name !== 'ending_before'),
    );
    query.set(cursor, id);
    return html`<a class="button" href="/dashboard${path}?${query.toString()}">${label}</a>`;
  };
  return html`<nav class="pager" aria-label="Pages">
    ${(isBack ? hasMore : isLater) && link('ending_before', jobs[0]?.id, 'Newer')}
    ${(isBack || hasMore) && link('starting_after', jobs.at(-1)?.id, 'Older')}
  </nav>`;
}
