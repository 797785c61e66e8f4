/**
 * The end of a job, whoever decides it: one conditional update and, only when it took, everything that
 * follows from it in the same transaction: ledger, file deletions, the upload's end, webhook deliveries.
 */
import { recordWork } from '#api/billing/record-work.ts';
import { deleteLater } from '#api/files/file-deletion-rows.ts';
import { deleteOutputs } from '#api/jobs/delete-outputs.ts';
import { isUnfinished, type Job } from '#api/jobs/job.ts';
import { jobObject } from '#api/jobs/job-object.ts';
import { endJob, type JobEnd } from '#api/jobs/job-progress-rows.ts';
import { lockJob } from '#api/jobs/job-rows.ts';
import { JOBS_CHANNEL } from '#api/jobs/jobs-channel.ts';
import { notify } from '#api/store/listen.ts';
import type { Database, Queryable } from '#api/store/database.ts';
import type { SecretBox } from '#api/store/secret-box.ts';
import { partsFolder } from '#api/uploads/upload.ts';
import { currentEtag, deleteUpload } from '#api/uploads/upload-rows.ts';
import { queueJobEvent } from '#api/webhooks/queue-job-event.ts';
import type { ErrorCode } from '#crds/error-codes.ts';
import type { NewId } from '#crds/ids.ts';
import { MediaError, toJobError, type JobError } from '#crds/media-error.ts';
import type { WorkerReport } from '#crds/media-job.ts';
import type { Clock } from '#crds/shared/clock.ts';
import { faultPoint } from '#crds/shared/fault-point.ts';
import type { RingKey } from '#crds/shared/settings.ts';

export interface FinishDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly secretBox: SecretBox;
  readonly baseUrl: string;
  readonly linkKeys: readonly RingKey[];
}

/** The attempt whose report this is; a report of another attempt or MediaJob is refused. */
interface Fence {
  readonly dispatch: string;
  readonly attempt: number;
}

export type Ending =
  | {
      readonly kind: 'succeeded';
      readonly fence: Fence;
      readonly startedAt: Date;
      readonly report: WorkerReport;
      /** null when the output went to the caller's storage. */
      readonly outputKey: string | null;
    }
  | { readonly kind: 'failed'; readonly fence: Fence | null; readonly error: { code: ErrorCode; message: string } }
  | { readonly kind: 'canceled' };

/** The job as it ended, or null when it had ended already (or the report came late): then nothing changed. */
export async function finishJob(deps: FinishDeps, jobId: string, ending: Ending): Promise<Job | null> {
  const ended = await deps.database.transaction(async (tx) => {
    const before = await lockJob(tx, jobId);
    if (before === null || !isUnfinished(before)) return null;
    const job = await endJob(tx, jobId, endOf(deps, before, await unlessChanged(tx, before, ending)));
    if (job === null) return null;
    await recordWork(deps, tx, job);
    await deleteInput(deps, tx, job);
    await queueJobEvent(deps, tx, {
      accountId: job.accountId,
      jobId: job.id,
      livemode: job.livemode,
      type: `job.${ending.kind === 'canceled' ? 'canceled' : job.status === 'succeeded' ? 'succeeded' : 'failed'}`,
      createdAt: job.completedAt ?? deps.clock.now(),
      job: jobObject(deps, job),
      webhookUrl: job.webhookUrl,
    });
    await notify(tx, JOBS_CHANNEL, job.id);
    await faultPoint('before-final-commit');
    return job;
  });
  if (ended !== null) await faultPoint('after-final-commit');
  return ended;
}

/** A success on an upload that was overwritten meanwhile is a failure. Spec: input_changed. */
async function unlessChanged(tx: Queryable, job: Job, ending: Ending): Promise<Ending> {
  if (ending.kind !== 'succeeded' || job.uploadId === null) return ending;
  const etag = await currentEtag(tx, job.uploadId);
  if (etag === null || etag === job.inputEtag) return ending;
  const message = 'The upload was overwritten after the job was created. Create a new upload for other content.';
  return { kind: 'failed', fence: ending.fence, error: { code: 'input_changed', message } };
}

function endOf(deps: FinishDeps, job: Job, ending: Ending): JobEnd {
  const now = deps.clock.now();
  const expiresAt = new Date(now.getTime() + job.retentionSeconds * 1000);
  const withoutOutput = {
    completedAt: now,
    startedAt: null,
    result: null,
    report: null,
    billed: false,
    outputKey: null,
    expiresAt,
    filesDeletedAt: now,
  };
  switch (ending.kind) {
    case 'succeeded':
      return {
        status: 'succeeded',
        completedAt: now,
        startedAt: ending.startedAt,
        result: ending.report.result,
        report: ending.report,
        error: null,
        billed: job.livemode && !ending.report.result.kept_original,
        outputKey: ending.outputKey,
        expiresAt,
        filesDeletedAt: null,
        fence: ending.fence,
      };
    case 'failed':
      return { ...withoutOutput, status: 'failed', error: errorOf(ending.error), fence: ending.fence };
    case 'canceled': {
      const error = errorOf({ code: 'canceled', message: 'The job was canceled before it finished.' });
      return { ...withoutOutput, status: 'canceled', error, fence: null };
    }
  }
}

function errorOf({ code, message }: { code: ErrorCode; message: string }): JobError {
  return toJobError(new MediaError(code, message));
}

async function deleteInput({ clock }: FinishDeps, tx: Queryable, job: Job): Promise<void> {
  const now = clock.now();
  await deleteLater(tx, job.inputKey, now);
  if (job.outputKey === null) await deleteOutputs(tx, job, now);
  if (job.uploadId === null) return;
  await deleteUpload(tx, job.uploadId);
  await deleteLater(tx, partsFolder(job.uploadId), now);
}
