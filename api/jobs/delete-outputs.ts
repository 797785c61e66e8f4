import { deleteLater } from '#api/files/file-deletion-rows.ts';
import { TICKET_SECONDS } from '#api/jobs/dispatch-jobs.ts';
import { outputFolder, type Job } from '#api/jobs/job.ts';
import type { Queryable } from '#api/store/database.ts';

/**
 * All outputs of a job, now; and once more when the links have run out by which its attempts write: a worker that was
 * stopped may still be sending.
 */
export function deleteOutputs(tx: Queryable, job: Pick<Job, 'id'>, now: Date): Promise<void> {
  return deleteLater(tx, outputFolder(job), now, new Date(now.getTime() + TICKET_SECONDS * 1000));
}
