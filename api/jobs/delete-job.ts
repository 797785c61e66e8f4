import type { AccountCaller } from '#api/accounts/find-caller.ts';
import { recordAudit } from '#api/audit/audit.ts';
import type { Dependencies } from '#api/dependencies.ts';
import { deleteOutputs } from '#api/jobs/delete-outputs.ts';
import { isUnfinished, type Job } from '#api/jobs/job.ts';
import { finishJobIn } from '#api/jobs/finish-job.ts';
import { markFilesDeleted } from '#api/jobs/job-progress-rows.ts';
import { traceJob } from '#api/jobs/trace-job.ts';
import { readJob } from '#api/jobs/read-jobs.ts';
import { CHANGES_CHANNEL } from '#api/store/changes-channel.ts';
import { notify } from '#api/store/listen.ts';
import type { Queryable } from '#api/store/database.ts';
import { faultPoint } from '#crds/process/fault-point.ts';

type DeleteDeps = Pick<Dependencies, 'database' | 'clock' | 'newId' | 'secretBox' | 'baseUrl' | 'linkKeys' | 'tracing'>;

interface JobDeletion {
  readonly caller: AccountCaller;
  readonly input: { readonly id: string };
}

/**
 * Cancels an unfinished job, or deletes the files of a finished one, whose status and price stay. Idempotent.
 * Returns the job read afterwards.
 * @throws MediaError not_found
 */
export async function deleteJob(deps: DeleteDeps, deletion: JobDeletion): Promise<Job> {
  const job = await readJob(deps, deletion);
  const canceled = isUnfinished(job) ? await cancel(deps, deletion) : null;
  if (canceled !== null) return canceled;
  await deleteFiles(deps, deletion.caller, job);
  return readJob(deps, deletion);
}

/** Returns the canceled job; null when it had ended before. */
async function cancel(deps: DeleteDeps, { caller, input: { id } }: JobDeletion): Promise<Job | null> {
  const canceled = await deps.database.transaction(async (tx) => {
    const job = await finishJobIn(deps, tx, { jobId: id, ending: { kind: 'canceled' } });
    if (job === null) return null;
    await record(deps, tx, { caller, id, action: 'job.cancel' });
    await notify(tx, CHANGES_CHANNEL, id);
    return job;
  });
  if (canceled === null) return null;
  traceJob(deps.tracing, canceled);
  await faultPoint('after-final-commit');
  return canceled;
}

async function deleteFiles(deps: DeleteDeps, caller: AccountCaller, job: Job): Promise<void> {
  const now = deps.clock.now();
  await deps.database.transaction(async (tx) => {
    await record(deps, tx, { caller, id: job.id, action: 'job.delete_files' });
    if (!(await markFilesDeleted(tx, job.id, now))) return;
    await deleteOutputs(tx, job, now);
    await notify(tx, CHANGES_CHANNEL, job.id);
  });
}

function record(
  { clock }: Pick<DeleteDeps, 'clock'>,
  tx: Queryable,
  { caller, id, action }: { caller: AccountCaller; id: string; action: string },
): Promise<void> {
  return recordAudit(tx, caller.actor, { at: clock.now(), action, target: id, accountId: caller.account.id });
}
