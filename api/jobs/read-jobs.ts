import { z } from 'zod';
import type { ApiDeps } from '#api/api-deps.ts';
import type { ApiReply, CallerRequest } from '#api/endpoint.ts';
import { parseFields } from '#api/http/json-body.ts';
import { queryNumber, readQuery } from '#api/http/query.ts';
import { JOB_STATUSES, type Job } from '#api/jobs/job.ts';
import { jobObject, type JobObject } from '#api/jobs/job-object.ts';
import { findReadableJob, selectJobs, type Cursor, type JobFilter } from '#api/jobs/job-rows.ts';
import { OPERATIONS } from '#crds/formats.ts';
import { MediaError } from '#crds/media-error.ts';
import { LIMITS } from '#crds/plans.ts';

const moment = z.iso.datetime({ offset: true }).transform((text) => new Date(text));

export const jobListQuery = z.strictObject({
  limit: queryNumber({ min: 1, max: 100 }).prefault(20),
  starting_after: z.string().optional().meta({ description: 'Id of a job: the page goes on with older ones.' }),
  ending_before: z.string().optional().meta({ description: 'Id of a job: the page ends before it, with newer ones.' }),
  status: z.enum(JOB_STATUSES).optional(),
  operation: z.enum(OPERATIONS).optional(),
  created_after: moment.optional(),
  created_before: moment.optional(),
});

/** `GET /v1/jobs/{id}`. */
export async function getJob(deps: ApiDeps, request: CallerRequest): Promise<ApiReply> {
  return { status: 200, body: jobObject(deps, await readableJob(deps, request)) };
}

/** `GET /v1/jobs`: newest first, by keyset on (created_at, id). */
export async function listJobs(deps: ApiDeps, request: CallerRequest): Promise<ApiReply> {
  return { status: 200, body: { object: 'list', ...(await pageOfJobs(deps, request)) } };
}

/** @throws MediaError bad_request for the query. */
export async function pageOfJobs(
  deps: ApiDeps,
  request: CallerRequest,
): Promise<{ data: readonly JobObject[]; has_more: boolean }> {
  const query = parseFields(jobListQuery, Object.fromEntries(readQuery(request.query)));
  const filter: JobFilter = {
    ...owner(deps, request),
    status: query.status ?? null,
    operation: query.operation ?? null,
    createdAfter: query.created_after ?? null,
    createdBefore: query.created_before ?? null,
  };
  const cursor = await readCursor(deps, filter, query);
  const found = await selectJobs(deps.database, filter, { cursor, limit: query.limit + 1 });
  const page = found.slice(0, query.limit);
  if (cursor?.direction === 'newer') page.reverse();
  return { data: page.map((job) => jobObject(deps, job)), has_more: found.length > query.limit };
}

/**
 * The job that the path names, of this account and mode, until 30 days after it finished.
 * @throws MediaError not_found
 */
export async function readableJob(deps: ApiDeps, request: CallerRequest): Promise<Job> {
  const id = request.params['id'] ?? '';
  const job = await findReadableJob(deps.database, owner(deps, request), id);
  if (job === null) throw jobNotFound(id);
  return job;
}

export function jobNotFound(id: string): MediaError {
  return new MediaError('not_found', `There is no job \`${id.slice(0, 40)}\` in this account and mode.`);
}

function owner(
  deps: ApiDeps,
  { caller }: CallerRequest,
): { accountId: string; livemode: boolean; finishedAfter: Date } {
  const finishedAfter = new Date(deps.clock.now().getTime() - LIMITS.recordReadableSeconds * 1000);
  return { accountId: caller.account.id, livemode: caller.livemode, finishedAfter };
}

async function readCursor(
  deps: ApiDeps,
  filter: JobFilter,
  query: z.infer<typeof jobListQuery>,
): Promise<Cursor | null> {
  const { starting_after: after, ending_before: before } = query;
  if (after !== undefined && before !== undefined) {
    const message = 'Give `starting_after` or `ending_before`, not both.';
    throw new MediaError('bad_request', message, { param: 'ending_before' });
  }
  const id = after ?? before;
  if (id === undefined) return null;
  const job = await findReadableJob(deps.database, filter, id);
  const param = after === undefined ? 'ending_before' : 'starting_after';
  if (job === null)
    throw new MediaError('bad_request', `\`${param}\` names no job of this account and mode.`, { param });
  return { direction: after === undefined ? 'newer' : 'older', createdAt: job.createdAt, id: job.id };
}
