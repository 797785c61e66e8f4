/** SQL that counts jobs for the overviews of an account and of the installation. */
import type { JobStatus } from '#api/jobs/job.ts';
import type { Queryable } from '#api/store/database.ts';

/** Returns the number of live jobs that were created since a time, by status. */
export async function countJobsByStatus(
  db: Queryable,
  { accountId, since }: { accountId: string; since: Date },
): Promise<ReadonlyMap<JobStatus, number>> {
  const rows = await db.selectRows<{ status: JobStatus; count: number }>(
    `select status, count(*)::int as count from jobs
     where account_id = $1 and livemode and created_at >= $2 group by status`,
    [accountId, since],
  );
  return new Map(rows.map(({ status, count }) => [status, count]));
}

/** Returns whether the account has a job, live or test. */
export async function hasJobs(db: Queryable, accountId: string): Promise<boolean> {
  const row = await db.findRow<{ id: string }>('select id from jobs where account_id = $1 limit 1', [accountId]);
  return row !== null;
}

interface EndsOfHour {
  /** Start of the hour. */
  readonly hour: Date;
  readonly status: Extract<JobStatus, 'succeeded' | 'failed' | 'canceled'>;
  readonly count: number;
}

/** Returns the number of jobs of all accounts that ended since a time, by UTC hour and final status. */
export async function countEndsByHour(db: Queryable, since: Date): Promise<readonly EndsOfHour[]> {
  return db.selectRows<EndsOfHour>(
    `select date_trunc('hour', completed_at, 'UTC') as hour, status, count(*)::int as count
     from jobs where completed_at > $1 group by 1, 2`,
    [since],
  );
}
