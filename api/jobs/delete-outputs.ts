import { deleteLater } from '#api/files/file-deletion-rows.ts';
import { JOB_LINK_SECONDS, outputFolder, type Job } from '#api/jobs/job.ts';
import type { Queryable } from '#api/store/database.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';

/**
 * Schedules the deletion of all outputs of a job: now, and again when the upload links of its attempts expire, because
 * a stopped worker may still be sending.
 */
export function deleteOutputs(tx: Queryable, job: Pick<Job, 'id' | 'createdAt'>, now: Date): Promise<void> {
  const linksExpireAt = outputLinksExpireAt(job);
  return deleteLater(tx, outputFolder(job), now, linksExpireAt > now ? linksExpireAt : null);
}

/** Returns the time after which no upload link of the job is valid any more. */
export function outputLinksExpireAt({ createdAt }: Pick<Job, 'createdAt'>): Date {
  return new Date(createdAt.getTime() + (LIMITS.jobWaitSeconds + JOB_LINK_SECONDS) * 1000);
}
