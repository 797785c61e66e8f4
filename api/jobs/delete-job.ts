import type { ApiDeps } from '#api/api-deps.ts';
import type { ApiReply, CallerRequest } from '#api/endpoint.ts';
import { deleteOutputs } from '#api/jobs/delete-outputs.ts';
import { isUnfinished, type Job } from '#api/jobs/job.ts';
import { finishJob } from '#api/jobs/finish-job.ts';
import { jobObject } from '#api/jobs/job-object.ts';
import { markFilesDeleted } from '#api/jobs/job-progress-rows.ts';
import { JOBS_CHANNEL } from '#api/jobs/jobs-channel.ts';
import { readableJob } from '#api/jobs/read-jobs.ts';
import { notify } from '#api/store/listen.ts';

/**
 * `DELETE /v1/jobs/{id}`: cancels an unfinished job; removes a finished one's files now, its status and
 * billing unchanged. Repeatable.
 */
export async function deleteJob(deps: ApiDeps, request: CallerRequest): Promise<ApiReply> {
  const job = await readableJob(deps, request);
  const canceled = isUnfinished(job) ? await finishJob(deps, job.id, { kind: 'canceled' }) : null;
  if (canceled !== null) return { status: 200, body: jobObject(deps, canceled) };
  await deleteFiles(deps, job);
  return { status: 200, body: jobObject(deps, await readableJob(deps, request)) };
}

async function deleteFiles(deps: ApiDeps, job: Job): Promise<void> {
  const now = deps.clock.now();
  await deps.database.transaction(async (tx) => {
    if (!(await markFilesDeleted(tx, job.id, now))) return;
    await deleteOutputs(tx, job, now);
    await notify(tx, JOBS_CHANNEL, job.id);
  });
}
