import { deleteLater } from '#api/files/file-deletion-rows.ts';
import { LAST_WRITE_SECONDS, outputFolder, type Job } from '#api/jobs/job.ts';
import type { Queryable } from '#api/store/database.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';

/**
 * Schedules the deletion of all outputs of a job: now, and again when no attempt can write any more, because a stopped
 * worker may still be sending.
 */
export function deleteOutputs(tx: Queryable, job: Pick<Job, 'id' | 'createdAt'>, now: Date): Promise<void> {
  const writtenUntil = lastWriteAt(job);
  return deleteLater(tx, outputFolder(job), now, writtenUntil > now ? writtenUntil : null);
}

/** Returns the time after which no attempt of the job can write. Its input may be fetched first. */
export function lastWriteAt({ createdAt }: Pick<Job, 'createdAt'>): Date {
  return new Date(createdAt.getTime() + (LIMITS.jobFetchSeconds + LAST_WRITE_SECONDS) * 1000);
}
