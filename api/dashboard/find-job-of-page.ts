import { callerOf } from '#api/dashboard/caller-of.ts';
import type { AccountVisit } from '#api/dashboard/route.ts';
import type { Dependencies } from '#api/dependencies.ts';
import type { Job } from '#api/jobs/job.ts';
import { readJob } from '#api/jobs/read-jobs.ts';
import { MediaError } from '#crds/contract/media-error.ts';

/** Returns the job of the page in live or test mode. @throws MediaError not_found */
export async function findJobOfPage(deps: Pick<Dependencies, 'database' | 'clock'>, visit: AccountVisit): Promise<Job> {
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
