import { Readable } from 'node:stream';
import { callerOf } from '#api/dashboard/caller-of.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { confirmForm } from '#api/dashboard/form.ts';
import { html, type Content, type Html } from '#api/dashboard/html.ts';
import { jobEvents } from '#api/dashboard/job-events.ts';
import { jobState } from '#api/dashboard/job-state.ts';
import { notFound } from '#api/dashboard/not-found.ts';
import { redirectTo } from '#api/dashboard/redirect-to.ts';
import { forMember, type AccountVisit, type PageReply, type Route, type RouteReply } from '#api/dashboard/route.ts';
import { facts, table } from '#api/dashboard/table.ts';
import { bytes, duration, moment, number, prose } from '#api/dashboard/format-values.ts';
import { deleteJob } from '#api/jobs/delete-job.ts';
import { isUnfinished, type Job } from '#api/jobs/job.ts';
import { jobObject, type JobObject } from '#api/jobs/job-object.ts';
import { readJob } from '#api/jobs/read-jobs.ts';
import { readReceipt } from '#api/receipts/read-receipt.ts';
import { verifyReceipt } from '#api/receipts/verify-receipt.ts';
import { findRole } from '#api/users/membership-rows.ts';
import { findSession } from '#api/users/session-rows.ts';
import { seenAfter } from '#api/users/session.ts';
import { isAtLeast } from '#api/users/user.ts';
import { MediaError } from '#crds/contract/media-error.ts';

/** Maximum number of jobs per event stream; more than a page of the list has. */
const MAX_FOLLOWED_JOBS = 100;

/** Pages and actions of a job, its receipt, and the event stream of unfinished jobs. */
export const jobRoutes: readonly Route[] = [
  forMember('GET', '/accounts/:account/jobs/live', { needs: 'read_only' }, (deps, visit) => followJobs(deps, visit)),
  forMember('GET', '/accounts/:account/jobs/:id', { needs: 'read_only' }, jobPage),
  forMember('GET', '/accounts/:account/jobs/:id/receipt.json', { needs: 'read_only' }, downloadReceipt),
  forMember('POST', '/accounts/:account/jobs/:id/delete', { needs: 'developer' }, remove),
];

function followJobs(deps: DashboardDeps, visit: AccountVisit): RouteReply {
  const { account, query, signal } = visit;
  const mayRead = () => mayStillRead(deps, visit);
  const ids = (query.get('ids') ?? '').split(',').slice(0, MAX_FOLLOWED_JOBS);
  return {
    kind: 'file',
    body: Readable.from(jobEvents(deps, { accountId: account.id, ids, signal, mayRead })),
    headers: { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' },
  };
}

async function mayStillRead({ database, clock }: DashboardDeps, { session, account }: AccountVisit): Promise<boolean> {
  const now = clock.now();
  const found = await findSession(database, session.digest, { now, seenAfter: seenAfter(now) });
  if (found === null) return false;
  return found.user.operator || (await findRole(database, { userId: found.user.id, accountId: account.id })) !== null;
}

async function jobPage(deps: DashboardDeps, visit: AccountVisit): Promise<PageReply> {
  const job = await findJob(deps, visit);
  const shown = jobObject(deps, job);
  const path = `/accounts/${visit.account.id}/jobs`;
  const live = `/dashboard${path}/live?${new URLSearchParams({ ids: job.id }).toString()}`;
  return {
    kind: 'page',
    title: `${job.id} – ${visit.account.name}`,
    body: html`<p><a href="/dashboard${path}?mode=${job.livemode ? 'live' : 'test'}">Jobs</a></p>
      <h1>${job.inputFilename ?? job.operation.replace('_', ' ')}</h1>
      <p class="large" ${isUnfinished(job) && html`data-live="${live}" data-reload="true"`}>${jobState(shown)}</p>
      ${shown.error !== null && failureSection(deps, shown.error)} ${facts(jobFacts(shown))}
      ${shown.result !== null && resultSection(shown.result, visit)}
      <h2>Metadata</h2>
      ${table({
        caption: 'Metadata as sent',
        columns: ['Name', 'Value'],
        rows: Object.entries(job.metadata),
        empty: 'The job was created without metadata.',
      })}
      <details>
        <summary>Options with their defaults</summary>
        <pre tabindex="0">${JSON.stringify(job.options, null, 2)}</pre>
      </details>
      ${!isUnfinished(job) && (await receiptSection(deps, visit, job))}
      ${isAtLeast(visit.role, 'developer') && removalForm(visit, job)}`,
  };
}

/** Returns the job of the page in live or test mode. @throws MediaError not_found */
async function findJob(deps: DashboardDeps, visit: AccountVisit): Promise<Job> {
  const input = { id: visit.params['id'] ?? '' };
  for (const livemode of [true, false]) {
    try {
      return await readJob(deps, { caller: callerOf(visit, livemode), input });
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
    }
  }
  throw new MediaError(
    'not_found',
    'There is no such job in this account. A record is kept for 30 days after its end.',
  );
}

function failureSection({ docsUrl }: DashboardDeps, { code, message }: NonNullable<JobObject['error']>): Html {
  return html`<section class="notice warning">
    <p>${prose(message)}</p>
    <p>
      <a href="${docsUrl}/reference/errors#${code}">What <code>${code}</code> means</a>
    </p>
  </section>`;
}

function jobFacts(job: JobObject): readonly (readonly [string, Content])[] {
  return [
    ['Job', html`<code>${job.id}</code>`],
    ['Mode', job.livemode ? 'live' : 'test'],
    ['Operation', job.operation.replace('_', ' ')],
    ['File', job.input.filename ?? '–'],
    ['Size', bytes(job.input.size)],
    ['Created', moment(job.created_at)],
    ['Started', moment(job.started_at)],
    ['Ended', moment(job.completed_at)],
    ['Billed', job.billed ? 'yes' : 'no'],
    ['Files', job.files_deleted ? 'deleted' : html`kept until ${moment(job.expires_at, 'the job has ended')}`],
  ];
}

/** Returns the section of the result. Only members see the link, because it opens the file without a key. */
function resultSection(result: NonNullable<JobObject['result']>, { isMember }: AccountVisit): Html {
  const size = result.width !== null && result.height !== null ? `${result.width} × ${result.height}` : null;
  const rows: readonly (readonly [string, Content])[] = [
    ['Format', `${result.input_format} → ${result.output_format}`],
    ['Size', `${bytes(result.original_size)} → ${bytes(result.output_size)}`],
    [
      'Saved',
      result.kept_original ? 'the original: it could not be made smaller' : `${number(result.savings_percent, 1)} %`,
    ],
    ['Pixels', size],
    ['Pages', result.pages],
    ['Duration', result.duration_seconds === null ? null : duration(result.duration_seconds)],
    ['Video codec', result.video_codec],
    [
      'Warnings',
      result.warnings.length === 0
        ? null
        : html`<ul class="plain">
            ${result.warnings.map((text) => html`<li>${text}</li>`)}
          </ul>`,
    ],
  ];
  return html`<h2>Result</h2>
    ${facts(rows.filter(([, value]) => value !== null))}
    ${
      typeof result.download_url === 'string' &&
      (isMember
        ? html`<p><a class="button" href="${result.download_url}">Download the result</a></p>`
        : html`<p class="hint">Only members of the account are shown the link to the result.</p>`)
    }`;
}

async function receiptSection(deps: DashboardDeps, visit: AccountVisit, job: Job): Promise<Html> {
  const { jws, key_id: keyId } = await readReceipt(deps, job);
  const isValid = verifyReceipt(deps.receiptKeys, jws) !== null;
  const base = `/dashboard/accounts/${visit.account.id}`;
  return html`<h2>Receipt</h2>
    <p>
      ${isValid ? 'The signature is valid' : html`<strong class="problem">The signature is not valid</strong>`}, made
      with the key <code>${keyId}</code>.
    </p>
    <p>
      <a class="button" href="${base}/jobs/${job.id}/receipt.json" download>Download the receipt</a>
      <a href="${base}/receipts">Check a receipt</a>
    </p>`;
}

function removalForm(visit: AccountVisit, job: Job): Html | null {
  const action = `/accounts/${visit.account.id}/jobs/${job.id}/delete`;
  if (isUnfinished(job)) {
    return confirmForm(visit, {
      summary: 'Cancel the job …',
      action,
      body: html`<p>Processing stops and the files are deleted. The job is not billed. This cannot be undone.</p>`,
      button: 'Cancel the job',
    });
  }
  if (job.filesDeletedAt !== null) return null;
  return confirmForm(visit, {
    summary: 'Delete the files …',
    action,
    body: html`<p>The result can no longer be downloaded. The record, its status and the bill stay.</p>`,
    button: 'Delete the files now',
  });
}

async function remove(deps: DashboardDeps, visit: AccountVisit): Promise<RouteReply> {
  const job = await findJob(deps, visit);
  await deleteJob(deps, { caller: callerOf(visit, job.livemode), input: { id: job.id } });
  const text = isUnfinished(job) ? 'The job is canceled.' : 'The files are deleted.';
  return redirectTo(`/accounts/${visit.account.id}/jobs/${job.id}`, text);
}

async function downloadReceipt(deps: DashboardDeps, visit: AccountVisit): Promise<RouteReply> {
  const job = await findJob(deps, visit);
  if (isUnfinished(job)) throw notFound();
  return {
    kind: 'file',
    body: `${JSON.stringify(await readReceipt(deps, job), null, 2)}\n`,
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Disposition': `attachment; filename="receipt-${job.id}.json"`,
    },
  };
}
