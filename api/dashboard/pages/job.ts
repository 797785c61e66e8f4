import { selectKeys } from '#api/accounts/key-rows.ts';
import { findCharge } from '#api/billing/ledger-rows.ts';
import { callerOf } from '#api/dashboard/caller-of.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { confirmForm } from '#api/dashboard/form.ts';
import { appliedOptions } from '#api/dashboard/applied-options.ts';
import { findJobOfPage } from '#api/dashboard/find-job-of-page.ts';
import { html, type Content, type Html } from '#api/dashboard/html.ts';
import { icon } from '#api/dashboard/icons.ts';
import { resultFigures } from '#api/dashboard/result-figures.ts';
import { jobPreview, sampleOf } from '#api/dashboard/job-preview.ts';
import { jobTimeline } from '#api/dashboard/job-timeline.ts';
import { jobState } from '#api/dashboard/job-state.ts';
import { redirectTo } from '#api/dashboard/redirect-to.ts';
import { forMember, type AccountVisit, type PageReply, type Route, type RouteReply } from '#api/dashboard/route.ts';
import { facts } from '#api/dashboard/table.ts';
import { bytes, prose } from '#api/dashboard/format-values.ts';
import { deleteJob } from '#api/jobs/delete-job.ts';
import { isUnfinished, type Job } from '#api/jobs/job.ts';
import { jobObject, type JobObject } from '#api/jobs/job-object.ts';
import { readReceipt } from '#api/receipts/read-receipt.ts';
import type { JobCharge } from '#api/receipts/receipt-payload.ts';
import { verifyReceipt } from '#api/receipts/verify-receipt.ts';
import { isAtLeast } from '#api/users/user.ts';
import { selectDeliveriesOfJob } from '#api/webhooks/delivery-record-rows.ts';

/** Page of a job, and the action that cancels it or deletes its files. */
export const jobRoutes: readonly Route[] = [
  forMember('GET', '/accounts/:account/jobs/:id', { needs: 'read_only' }, jobPage),
  forMember('POST', '/accounts/:account/jobs/:id/delete', { needs: 'developer' }, remove),
];

async function jobPage(deps: DashboardDeps, visit: AccountVisit): Promise<PageReply> {
  const job = await findJobOfPage(deps, visit);
  const shown = jobObject(deps, job);
  const account = `/accounts/${visit.account.id}`;
  const live = `/dashboard${account}/jobs/live?${new URLSearchParams({ ids: job.id }).toString()}`;
  const { id: jobId, accountId } = job;
  const deliveries = await selectDeliveriesOfJob(deps.database, { accountId, jobId });
  return {
    kind: 'page',
    title: `${job.id} – ${visit.account.name}`,
    body: html`<p class="parent">
        <a href="/dashboard${account}/jobs?mode=${job.livemode ? 'live' : 'test'}">← Jobs</a>
      </p>
      <div class="head">
        <h1>${job.inputFilename ?? job.operation.replace('_', ' ')}</h1>
        ${actions(deps, visit, { job, shown })}
      </div>
      <p class="identity" ${isUnfinished(job) && html`data-live="${live}" data-reload="true"`}>
        ${jobState(shown)} <code id="job-id">${job.id}</code>
        <button type="button" class="copy" data-copy="job-id">${icon('copy')} Copy the id</button>
      </p>
      ${shown.error !== null && failureSection(deps, shown.error)}
      ${shown.result !== null && resultFigures(shown.result, await priceOf(deps, job))}
      ${visit.isMember && jobPreview(job, sampleOf(deps.samples, job), `${account}/jobs/${job.id}`)}
      <div class="panels">
        <section class="card">
          <h2>What happened</h2>
          ${jobTimeline(job, deliveries, account)}
        </section>
        <section class="card">
          <h2>Request</h2>
          ${facts(requestFacts(shown, await keyOf(deps, job)))} ${optionsSection(job)}
        </section>
      </div>
      ${!isUnfinished(job) && (await receiptSection(deps, visit, job))}`,
  };
}

/** Returns the buttons of the page. Only members see the link of the result, because it opens the file without a key. */
function actions(deps: DashboardDeps, visit: AccountVisit, { job, shown }: { job: Job; shown: JobObject }): Html {
  const url = shown.result?.download_url;
  return html`<div class="actions">
    ${
      typeof url === 'string' &&
      job.filesDeletedAt === null &&
      (visit.isMember
        ? html`<a class="button primary" href="${url}">${icon('download')} Download the result</a>`
        : html`<span class="hint">Only members of the account are shown the link to the result.</span>`)
    }
    ${
      isAtLeast(visit.role, 'developer') &&
      !isUnfinished(job) &&
      html`<a class="button" href="/dashboard/accounts/${visit.account.id}/playground?job=${job.id}"
        >${icon('again')} Run again</a
      >`
    }
    ${isAtLeast(visit.role, 'developer') && removalForm(deps, visit, job)}
  </div>`;
}

function failureSection({ docsUrl }: DashboardDeps, { code, message }: NonNullable<JobObject['error']>): Html {
  return html`<section class="notice bad">
    <p>${icon('bad')}${prose(message)}</p>
    <p>
      <a href="${docsUrl}/reference/errors#${code}">What <code>${code}</code> means</a>
    </p>
  </section>`;
}

/** Returns what the job cost, for its page; absent where prices are hidden. */
async function priceOf({ database, hidesPrices }: DashboardDeps, { id }: Job): Promise<JobCharge | null | undefined> {
  return hidesPrices ? undefined : findCharge(database, id);
}

/** Returns the key that created the job; it may be revoked. */
async function keyOf({ database }: DashboardDeps, { accountId, keyId }: Job): Promise<Content> {
  const key = (await selectKeys(database, accountId)).find(({ id }) => id === keyId);
  if (key === undefined) return '–';
  return html`<a href="/dashboard/accounts/${accountId}/keys">${key.name}</a> <code class="sub">${key.hint}</code>`;
}

function requestFacts(job: JobObject, key: Content): readonly (readonly [string, Content])[] {
  return [
    ['Operation', job.operation.replace('_', ' ')],
    ['Mode', job.livemode ? 'live' : 'test'],
    ['API key', key],
    ['File', job.input.filename ?? '–'],
    ['Size', bytes(job.input.size)],
    ...Object.entries(job.metadata).map(([name, value]) => [`Metadata: ${name}`, value] as const),
  ];
}

function optionsSection(job: Job): Html {
  const options = appliedOptions(job);
  if (Object.keys(options).length === 0) return html`<p class="hint">The operation has no options for this file.</p>`;
  return html`<h3>Options that applied, with their defaults</h3>
    <pre tabindex="0">${JSON.stringify(options, null, 2)}</pre>`;
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

function removalForm({ hidesPrices }: DashboardDeps, visit: AccountVisit, job: Job): Html | null {
  const action = `/accounts/${visit.account.id}/jobs/${job.id}/delete`;
  if (isUnfinished(job)) {
    return confirmForm(visit, {
      summary: 'Cancel the job …',
      action,
      body: html`<p>
        Processing stops and the files are deleted. ${!hidesPrices && 'The job is not billed. '}This cannot be undone.
      </p>`,
      button: 'Cancel the job',
    });
  }
  if (job.filesDeletedAt !== null) return null;
  return confirmForm(visit, {
    summary: 'Delete the files …',
    action,
    body: html`<p>
      The result can no longer be downloaded. The record${hidesPrices ? ' and its status' : ', its status and the bill'}
      stay.
    </p>`,
    button: 'Delete the files now',
  });
}

async function remove(deps: DashboardDeps, visit: AccountVisit): Promise<RouteReply> {
  const job = await findJobOfPage(deps, visit);
  await deleteJob(deps, { caller: callerOf(visit, job.livemode), input: { id: job.id } });
  const text = isUnfinished(job) ? 'The job is canceled.' : 'The files are deleted.';
  return redirectTo(`/accounts/${visit.account.id}/jobs/${job.id}`, text);
}
