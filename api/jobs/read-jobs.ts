import type { AccountCaller } from '#api/accounts/find-caller.ts';
import type { Dependencies } from '#api/dependencies.ts';
import type { Job } from '#api/jobs/job.ts';
import { findReadableJob, selectJobs, type Cursor, type JobFilter } from '#api/jobs/job-rows.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';

type ReadDeps = Pick<Dependencies, 'database' | 'clock'>;
type JobReader = Pick<AccountCaller, 'account' | 'livemode'>;

export interface JobPageQuery extends Pick<JobFilter, 'status' | 'operation' | 'createdAfter' | 'createdBefore'> {
  /** Maximum number of jobs on the page. */
  readonly limit: number;
  /** Id of a job: the page continues with older ones. */
  readonly startingAfter: string | undefined;
  /** Id of a job: the page ends before it, with newer jobs. */
  readonly endingBefore: string | undefined;
  /** Text to search for; absent in `GET /v1/jobs`. */
  readonly text?: string | null;
}

/** Returns one page of jobs, newest first, by keyset on (created_at, id). @throws MediaError bad_request */
export async function listJobs(
  deps: ReadDeps,
  { caller, input }: { caller: JobReader; input: JobPageQuery },
): Promise<{ jobs: readonly Job[]; hasMore: boolean }> {
  const { status, operation, createdAfter, createdBefore, text = null } = input;
  const filter: JobFilter = { ...readableBy(deps, caller), status, operation, createdAfter, createdBefore, text };
  const cursor = await readCursor(deps, filter, input);
  const found = await selectJobs(deps.database, filter, { cursor, limit: input.limit + 1 });
  const jobs = found.slice(0, input.limit);
  if (cursor?.direction === 'newer') jobs.reverse();
  return { jobs, hasMore: found.length > input.limit };
}

/**
 * Returns a job of the caller's account and mode, until 30 days after it finished.
 * @throws MediaError not_found
 */
export async function readJob(
  deps: ReadDeps,
  { caller, input: { id } }: { caller: JobReader; input: { readonly id: string } },
): Promise<Job> {
  const job = await findReadableJob(deps.database, readableBy(deps, caller), id);
  if (job === null) throw jobNotFound(id);
  return job;
}

/** Returns the refusal for an id that is not a job of the caller. */
export function jobNotFound(id: string): MediaError {
  return new MediaError('not_found', `There is no job \`${id.slice(0, 40)}\` in this account and mode.`);
}

function readableBy({ clock }: Pick<ReadDeps, 'clock'>, { account, livemode }: JobReader) {
  const finishedAfter = new Date(clock.now().getTime() - LIMITS.recordReadableSeconds * 1000);
  return { accountId: account.id, livemode, finishedAfter };
}

async function readCursor(
  { database }: Pick<ReadDeps, 'database'>,
  filter: JobFilter,
  { startingAfter: after, endingBefore: before }: JobPageQuery,
): Promise<Cursor | null> {
  if (after !== undefined && before !== undefined) {
    const message = 'Give `starting_after` or `ending_before`, not both.';
    throw new MediaError('bad_request', message, { param: 'ending_before' });
  }
  const id = after ?? before;
  if (id === undefined) return null;
  const job = await findReadableJob(database, filter, id);
  const param = after === undefined ? 'ending_before' : 'starting_after';
  if (job === null)
    throw new MediaError('bad_request', `\`${param}\` names no job of this account and mode.`, { param });
  return { direction: after === undefined ? 'newer' : 'older', createdAt: job.createdAt, id: job.id };
}
