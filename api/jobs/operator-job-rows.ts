/** SQL of the jobs of all accounts, for operators. */
import { JOB_COLUMNS } from '#api/jobs/job-rows.ts';
import type { Job } from '#api/jobs/job.ts';
import type { Queryable } from '#api/store/database.ts';

/** A job with the name of its account. */
export type OperatorJob = Job & { readonly accountName: string };

const COLUMNS = `${JOB_COLUMNS}, (select name from accounts where accounts.id = jobs.account_id) as "accountName"`;

interface FailedJobFilter {
  /** Only jobs that ended later. */
  readonly since: Date;
  /** null: any code. */
  readonly code: string | null;
  /** Id of a job: only those that ended before it. */
  readonly before: string | null;
  readonly limit: number;
}

/** Returns failed jobs, the newest end first. */
export async function selectFailedJobs(
  db: Queryable,
  { since, code, before, limit }: FailedJobFilter,
): Promise<readonly OperatorJob[]> {
  return db.selectRows<OperatorJob>(
    `select ${COLUMNS} from jobs
     where completed_at > $1 and status = 'failed' and ($2::text is null or error->>'code' = $2)
       and ($3::text is null or (completed_at, id) < (select completed_at, id from jobs where id = $3))
     order by completed_at desc, id desc limit $4`,
    [since, code, before, limit],
  );
}

/** Returns unfinished jobs, the oldest first. @param after id of a job: only those that were created after it. */
export async function selectUnfinishedJobs(
  db: Queryable,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<readonly OperatorJob[]> {
  return db.selectRows<OperatorJob>(
    `select ${COLUMNS} from jobs
     where status in ('queued', 'processing')
       and ($1::text is null or (created_at, id) > (select created_at, id from jobs where id = $1))
     order by created_at, id limit $2`,
    [after, limit],
  );
}
