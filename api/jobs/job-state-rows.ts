/** SQL of the status and progress of jobs. */
import type { Job } from '#api/jobs/job.ts';
import type { Queryable } from '#api/store/database.ts';

export type JobState = Pick<Job, 'id' | 'status' | 'percent'>;

/** Returns the states of the jobs among `ids` that belong to the account. */
export async function selectJobStates(
  db: Queryable,
  { accountId, ids }: { accountId: string; ids: readonly string[] },
): Promise<readonly JobState[]> {
  return db.selectRows<JobState>(
    'select id, status, percent from jobs where account_id = $1 and id = any($2::text[])',
    [accountId, [...ids]],
  );
}
