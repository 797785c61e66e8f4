import { Readable } from 'node:stream';
import { callerOf } from '#api/dashboard/caller-of.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { findJobOfPage } from '#api/dashboard/find-job-of-page.ts';
import { jobEvents } from '#api/dashboard/job-events.ts';
import { hasPreview } from '#api/dashboard/job-preview.ts';
import { notFound } from '#api/dashboard/not-found.ts';
import { forMember, type AccountVisit, type Route, type RouteReply } from '#api/dashboard/route.ts';
import { findOutput } from '#api/jobs/find-output.ts';
import { isUnfinished } from '#api/jobs/job.ts';
import { readReceipt } from '#api/receipts/read-receipt.ts';
import { findRole } from '#api/users/membership-rows.ts';
import { findSession } from '#api/users/session-rows.ts';
import { seenAfter } from '#api/users/session.ts';

/** Maximum number of jobs per event stream; more than a page of the list has. */
const MAX_FOLLOWED_JOBS = 100;

/** Files of the pages of jobs: the image of a result, the receipt, and the event stream of unfinished jobs. */
export const jobFileRoutes: readonly Route[] = [
  forMember('GET', '/accounts/:account/jobs/live', { needs: 'read_only' }, (deps, visit) => followJobs(deps, visit)),
  forMember('GET', '/accounts/:account/jobs/:id/preview', { needs: 'read_only' }, sendPreview),
  forMember('GET', '/accounts/:account/jobs/:id/receipt.json', { needs: 'read_only' }, downloadReceipt),
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

/** Sends the result of a job as an image, to members only. */
async function sendPreview(deps: DashboardDeps, visit: AccountVisit): Promise<RouteReply> {
  const job = await findJobOfPage(deps, visit);
  if (!visit.isMember || !hasPreview(job)) throw notFound();
  const { id, livemode } = job;
  const output = await findOutput(deps, { caller: callerOf(visit, livemode), input: { id } });
  return {
    kind: 'file',
    body: await output.open(null),
    headers: { 'Content-Type': output.mediaType, 'Content-Length': output.size },
  };
}

async function downloadReceipt(deps: DashboardDeps, visit: AccountVisit): Promise<RouteReply> {
  const job = await findJobOfPage(deps, visit);
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
