/**
 * The end of a job: one conditional update. When it changes the row, the same transaction writes the ledger, the file
 * deletions, the deletion of the upload and the webhook deliveries.
 */
import type { Dependencies } from '#api/dependencies.ts';
import { recordWork } from '#api/billing/record-work.ts';
import { deleteLater } from '#api/files/file-deletion-rows.ts';
import { deleteOutputs } from '#api/jobs/delete-outputs.ts';
import { isUnfinished, type Job } from '#api/jobs/job.ts';
import { jobObject } from '#api/jobs/job-object.ts';
import { endJob, type JobEnd } from '#api/jobs/job-progress-rows.ts';
import { lockJob } from '#api/jobs/job-rows.ts';
import type { Queryable } from '#api/store/database.ts';
import { unlessUnreadable } from '#api/store/unless-unreadable.ts';
import { partsFolder } from '#api/uploads/upload.ts';
import { currentEtag, deleteUpload } from '#api/uploads/upload-rows.ts';
import { openUrl, urlContext } from '#api/webhooks/stored-url.ts';
import { queueJobEvent, UNREADABLE_URL } from '#api/webhooks/queue-job-event.ts';
import type { ErrorCode } from '#crds/contract/error-codes.ts';
import { MediaError, toJobError, type JobError } from '#crds/contract/media-error.ts';
import type { WorkerReport } from '#crds/contract/media-job.ts';
import { faultPoint } from '#crds/process/fault-point.ts';

export interface FinishDeps extends Pick<
  Dependencies,
  'database' | 'clock' | 'newId' | 'secretBox' | 'baseUrl' | 'linkKeys'
> {
  /** Called with each job that `finishJob` has ended. */
  readonly onJobEnded?: (job: Job) => void;
}

/** MediaJob and attempt that sent a report. A report of an older attempt or of another MediaJob is stale. */
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

/** Ends a job. Returns it; null when it had ended before or the report is stale. */
export async function finishJob(deps: FinishDeps, jobId: string, ending: Ending): Promise<Job | null> {
  const ended = await deps.database.transaction((tx) => finishJobIn(deps, tx, { jobId, ending }));
  if (ended === null) return null;
  deps.onJobEnded?.(ended);
  await faultPoint('after-final-commit');
  return ended;
}

/**
 * Ends a job in the caller's transaction. Returns it; null when it had ended before or the report is stale. The recorder
 * is not notified: in most cases it is the caller.
 */
export async function finishJobIn(
  deps: Omit<FinishDeps, 'database'>,
  tx: Queryable,
  { jobId, ending }: { jobId: string; ending: Ending },
): Promise<Job | null> {
  const before = await lockJob(tx, jobId);
  if (before === null || !isUnfinished(before)) return null;
  const actual = await failIfInputChanged(tx, before, ending);
  const end = endOf(deps, before, actual);
  const job = await endJob(tx, jobId, end);
  if (job === null) return null;
  const event = {
    accountId: job.accountId,
    jobId: job.id,
    livemode: job.livemode,
    type: `job.${end.status}`,
    createdAt: job.completedAt ?? deps.clock.now(),
    job: jobObject(deps, job),
    webhookUrl: webhookUrlOf(deps, job),
  } as const;
  // None needs the result of another, so their statements are sent together.
  await Promise.all([recordWork(deps, tx, job), deleteInput(deps, tx, job), queueJobEvent(deps, tx, event)]);
  await faultPoint('before-final-commit');
  return job;
}

/** Returns the job's `webhook_url`; null without one. One whose encryption key was removed is `UNREADABLE_URL`, so that the job can still end. */
function webhookUrlOf({ secretBox }: Pick<FinishDeps, 'secretBox'>, job: Job): string | typeof UNREADABLE_URL | null {
  const { plainWebhookUrl: plainUrl, sealedWebhookUrl: sealedUrl } = job;
  if (plainUrl === null && sealedUrl === null) return null;
  return unlessUnreadable(() => openUrl(secretBox, { plainUrl, sealedUrl }, urlContext.job(job.id))) ?? UNREADABLE_URL;
}

/** Returns a failure instead of a success when the upload was overwritten (docs/reference/errors.md#input_changed). */
async function failIfInputChanged(tx: Queryable, job: Job, ending: Ending): Promise<Ending> {
  if (ending.kind !== 'succeeded' || job.uploadId === null) return ending;
  const etag = await currentEtag(tx, job.uploadId);
  if (etag === null || etag === job.inputEtag) return ending;
  const message = 'The upload was overwritten after the job was created. Create a new upload for other content.';
  return { kind: 'failed', fence: ending.fence, error: { code: 'input_changed', message } };
}

function endOf(deps: Pick<FinishDeps, 'clock'>, job: Job, ending: Ending): JobEnd {
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

async function deleteInput({ clock }: Pick<FinishDeps, 'clock'>, tx: Queryable, job: Job): Promise<void> {
  const now = clock.now();
  const { inputKey, outputKey, uploadId } = job;
  await Promise.all([
    deleteLater(tx, inputKey, now),
    outputKey === null ? deleteOutputs(tx, job, now) : undefined,
    uploadId === null ? undefined : deleteUploadWithParts(tx, uploadId, now),
  ]);
}

async function deleteUploadWithParts(tx: Queryable, uploadId: string, now: Date): Promise<void> {
  if (await deleteUpload(tx, uploadId)) await deleteLater(tx, partsFolder(uploadId), now);
}
