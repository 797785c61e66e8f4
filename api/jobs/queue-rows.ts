/** SQL of the operators' view: unfinished jobs, failures, and the tool versions that made results. */
import type { JobStatus } from '#api/jobs/job.ts';
import type { Queryable } from '#api/store/database.ts';

export interface QueueGroup {
  readonly status: Extract<JobStatus, 'queued' | 'processing'>;
  /** File name extension in lower case, without the dot; null when the name has none or is not known yet. */
  readonly extension: string | null;
  readonly count: number;
  readonly oldest: Date;
}

/** Returns the number of unfinished jobs, by status and extension of the file name. */
export async function selectQueue(db: Queryable): Promise<readonly QueueGroup[]> {
  return db.selectRows<QueueGroup>(`select status, lower(substring(input_filename from '\\.([A-Za-z0-9]{1,10})$')) as extension, count(*)::int as count,
       min(created_at) as oldest
     from jobs where status in ('queued', 'processing') group by 1, 2`);
}

/** Returns the failed jobs since a time, by error code, the most frequent first. */
export async function selectFailures(
  db: Queryable,
  since: Date,
): Promise<readonly { code: string; count: number; latest: Date; jobId: string; accountId: string }[]> {
  return db.selectRows<{ code: string; count: number; latest: Date; jobId: string; accountId: string }>(
    `select error->>'code' as code, count(*)::int as count, max(completed_at) as latest,
       (array_agg(id order by completed_at desc))[1] as "jobId",
       (array_agg(account_id order by completed_at desc))[1] as "accountId"
     from jobs where completed_at > $1 and status = 'failed' group by 1 order by 2 desc, 1`,
    [since],
  );
}

/** Returns the number of jobs that ended since a time, by final status. */
export async function countEnds(db: Queryable, since: Date): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query<{ status: string; count: number }>(
    'select status, count(*)::int as count from jobs where completed_at > $1 group by status',
    [since],
  );
  return new Map(rows.map(({ status, count }) => [status, count]));
}

export interface UsedTool {
  /** Container image of the worker; null outside a cluster. */
  readonly image: string | null;
  readonly tool: string;
  readonly version: string;
  readonly jobs: number;
  readonly latest: Date;
}

/** Returns the tool versions in the reports of jobs that ended since a time. */
export async function selectTools(db: Queryable, since: Date): Promise<readonly UsedTool[]> {
  return db.selectRows<UsedTool>(
    `select report->>'image' as image, key as tool, value as version, count(*)::int as jobs, max(completed_at) as latest
     from jobs, json_each_text(report->'tools')
     where completed_at > $1 and report is not null group by 1, 2, 3 order by 1, 2, max(completed_at) desc`,
    [since],
  );
}
