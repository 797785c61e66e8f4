/** SQL of what operators watch: unfinished jobs, failures, the engines behind results. */
import type { JobStatus } from '#api/jobs/job.ts';
import type { Queryable } from '#api/store/database.ts';

export interface QueueGroup {
  readonly status: Extract<JobStatus, 'queued' | 'processing'>;
  /** Lower case, without dot; null: the name has none, or is not known yet. */
  readonly extension: string | null;
  readonly count: number;
  readonly oldest: Date;
}

/** Unfinished jobs by status and extension of the file name. */
export async function selectQueue(db: Queryable): Promise<readonly QueueGroup[]> {
  const { rows } = await db.query<QueueGroup>(
    `select status, lower(substring(input_filename from '\\.([A-Za-z0-9]{1,10})$')) as extension, count(*)::int as count,
       min(created_at) as oldest
     from jobs where status in ('queued', 'processing') group by 1, 2`,
  );
  return rows;
}

/** Failed jobs by error code since then, the most frequent first. */
export async function selectFailures(
  db: Queryable,
  since: Date,
): Promise<readonly { code: string; count: number; latest: Date; jobId: string; accountId: string }[]> {
  const { rows } = await db.query<{ code: string; count: number; latest: Date; jobId: string; accountId: string }>(
    `select error->>'code' as code, count(*)::int as count, max(completed_at) as latest,
       (array_agg(id order by completed_at desc))[1] as "jobId",
       (array_agg(account_id order by completed_at desc))[1] as "accountId"
     from jobs where completed_at > $1 and status = 'failed' group by 1 order by 2 desc, 1`,
    [since],
  );
  return rows;
}

/** How many jobs ended since then, by final status. */
export async function countEnds(db: Queryable, since: Date): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query<{ status: string; count: number }>(
    'select status, count(*)::int as count from jobs where completed_at > $1 group by status',
    [since],
  );
  return new Map(rows.map(({ status, count }) => [status, count]));
}

export interface UsedTool {
  /** Container image of the worker; null where there is none. */
  readonly image: string | null;
  readonly tool: string;
  readonly version: string;
  readonly jobs: number;
  readonly latest: Date;
}

/** What the reports of jobs that ended since then say they were made with. */
export async function selectTools(db: Queryable, since: Date): Promise<readonly UsedTool[]> {
  const { rows } = await db.query<UsedTool>(
    `select report->>'image' as image, key as tool, value as version, count(*)::int as jobs, max(completed_at) as latest
     from jobs, json_each_text(report->'tools')
     where completed_at > $1 and report is not null group by 1, 2, 3 order by 1, 2, max(completed_at) desc`,
    [since],
  );
  return rows;
}
