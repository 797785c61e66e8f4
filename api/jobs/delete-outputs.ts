import { deleteLater } from '#api/files/file-deletion-rows.ts';
import { TICKET_SECONDS } from '#api/jobs/dispatch-jobs.ts';
import { outputFolder, type Job } from '#api/jobs/job.ts';
import type { Queryable } from '#api/store/database.ts';
import { LIMITS } from '#crds/plans.ts';

/**
 * All outputs of a job, now; and once more when the links have run out by which its attempts write: a worker that was
 * stopped may still be sending.
 */
export function deleteOutputs(tx: Queryable, job: Pick<Job, 'id' | 'createdAt'>, now: Date): Promise<void> {
  const lastWrite = lastWriteOf(job);
  return deleteLater(tx, outputFolder(job), now, lastWrite > now ? lastWrite : null);
}

/** Links are made until the job has waited for too long. */
export function lastWriteOf({ createdAt }: Pick<Job, 'createdAt'>): Date {
  return new Date(createdAt.getTime() + (LIMITS.jobWaitSeconds + TICKET_SECONDS) * 1000);
}
