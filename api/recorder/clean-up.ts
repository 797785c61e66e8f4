/** Expiry of jobs, uploads, files and records. Every function is idempotent and may be interrupted. */
import type { Dependencies } from '#api/dependencies.ts';
import { forgetReservations } from '#api/billing/direct-reservation-rows.ts';
import { deleteLater, endDeletions, postponeDeletion, selectDueDeletions } from '#api/files/file-deletion-rows.ts';
import type { FileStore } from '#api/files/file-store.ts';
import { deleteOutputs } from '#api/jobs/delete-outputs.ts';
import { finishJob, type FinishDeps } from '#api/jobs/finish-job.ts';
import { LAST_WRITE_SECONDS } from '#api/jobs/job.ts';
import { deleteForgottenKeys } from '#api/jobs/idempotency-rows.ts';
import {
  forgetJobs,
  markFilesDeleted,
  selectExpiredJobs,
  selectOverdueJobs,
  type OverdueStep,
} from '#api/jobs/job-progress-rows.ts';
import { processBatches } from '#api/recorder/process-batches.ts';
import { contentKey, partsFolder } from '#api/uploads/upload.ts';
import { deleteUpload, forgetAllowance, selectExpiredUploads } from '#api/uploads/upload-rows.ts';
import { forgetTransfers } from '#api/transfers/transfer-rows.ts';
import { forgetDeliveries } from '#api/webhooks/delivery-record-rows.ts';
import { forgetPings } from '#api/webhooks/webhook-ping-rows.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';
import type { ErrorCode } from '#crds/contract/error-codes.ts';
import { faultPoint } from '#crds/process/fault-point.ts';

/** Rows of one batch. Each function runs batches until no rows are left. */
const BATCH = 200;

type CleanUpDeps = Pick<FinishDeps, 'database' | 'clock'> & Pick<Dependencies, 'log'>;

/** Deletes the files of jobs past `expires_at` (docs/reference/jobs.md#job-object). */
export async function expireOutputs(deps: CleanUpDeps): Promise<void> {
  const { database } = deps;
  const now = deps.clock.now();
  await processBatches(deps, {
    batch: BATCH,
    select: (limit) => selectExpiredJobs(database, now, limit),
    handle: (job) =>
      database.transaction(async (tx) => {
        if (await markFilesDeleted(tx, job.id, now)) await deleteOutputs(tx, job, now);
      }),
    fieldsOf: ({ id }) => ({ job_id: id }),
  });
}

interface StepLimit {
  readonly step: OverdueStep;
  readonly seconds: number;
  /** Error of a job that exceeds it. */
  readonly error: { readonly code: ErrorCode; readonly message: string };
}

/** Time limits of unfinished jobs (docs/reference/limits-and-prices.md#limits-for-every-plan). */
const STEP_LIMITS: readonly StepLimit[] = [
  {
    step: 'fetching',
    seconds: LIMITS.jobFetchSeconds,
    error: {
      code: 'input_fetch_failed',
      message: `The file at \`input.url\` was not fetched within ${LIMITS.jobFetchSeconds / 3600} hours. Create the job again later, or upload the file.`,
    },
  },
  {
    step: 'waiting',
    seconds: LIMITS.jobWaitSeconds,
    error: {
      code: 'timeout',
      message: `The job waited ${LIMITS.jobWaitSeconds / 60} minutes for a free engine and failed. Create it again later.`,
    },
  },
  {
    step: 'uploading',
    seconds: LIMITS.jobRunSeconds,
    error: {
      code: 'timeout',
      message: `The job ran for more than ${LIMITS.jobRunSeconds / 3600} hours, with the upload to \`output.url\`. Create it again later.`,
    },
  },
];

/** Time by which the controller, which ends jobs that have a MediaJob, is earlier, in seconds. */
const CONTROLLER_FIRST_SECONDS = 60;

/** Fails jobs that have exceeded a time limit. */
export async function failOverdueJobs(deps: FinishDeps & Pick<Dependencies, 'log'>): Promise<void> {
  for (const { step, seconds, error } of STEP_LIMITS) {
    const since = new Date(deps.clock.now().getTime() - (seconds + CONTROLLER_FIRST_SECONDS) * 1000);
    await processBatches(deps, {
      batch: BATCH,
      select: (limit) => selectOverdueJobs(deps.database, { step, since }, limit),
      handle: async ({ id }) => {
        await finishJob(deps, id, { kind: 'failed', fence: null, error });
      },
      fieldsOf: ({ id }) => ({ job_id: id }),
    });
  }
}

/** Aborts multipart outputs whose attempts can no longer complete them. */
export async function dropOutputParts({
  clock,
  files,
}: Pick<FinishDeps, 'clock'> & { files: FileStore }): Promise<void> {
  await files.dropParts(new Date(clock.now().getTime() - LAST_WRITE_SECONDS * 1000));
}

const RETRY_DELETION_MS = 10_000;

/**
 * Deletes the files that transactions have marked for deletion.
 * @throws the first error; that deletion is postponed, and the next call continues with the others.
 */
export async function deleteFiles({ database, clock, files }: FinishDeps & { files: FileStore }): Promise<void> {
  const now = clock.now();
  for (;;) {
    const keys = await selectDueDeletions(database, now, BATCH);
    const deleted: string[] = [];
    try {
      for (const key of keys) {
        await deleteKey({ database, files }, key, now);
        deleted.push(key);
      }
    } finally {
      if (deleted.length > 0) await endDeletions(database, deleted);
    }
    if (keys.length < BATCH) return;
  }
}

/** Deletes a file, or all files below a folder. @throws its error, after the deletion was postponed. */
async function deleteKey(
  { database, files }: Pick<FinishDeps, 'database'> & { files: FileStore },
  key: string,
  now: Date,
): Promise<void> {
  try {
    if (key.endsWith('/')) for await (const below of files.list(key)) await files.delete(below);
    else await files.delete(key);
  } catch (error) {
    await postponeDeletion(database, key, new Date(now.getTime() + RETRY_DELETION_MS));
    throw error;
  }
  await faultPoint('after-file-deletion');
}

/** Deletes unused uploads (docs/reference/uploads.md#upload-states), old allowances, idempotency keys, reservations. */
export async function expireUploads(deps: CleanUpDeps): Promise<void> {
  const { database } = deps;
  const now = deps.clock.now();
  await processBatches(deps, {
    batch: BATCH,
    select: (limit) => selectExpiredUploads(database, now, limit),
    handle: ({ id }) =>
      database.transaction(async (tx) => {
        await deleteUpload(tx, id);
        await deleteLater(tx, contentKey(id), now);
        await deleteLater(tx, partsFolder(id), now);
      }),
    fieldsOf: ({ id }) => ({ upload_id: id }),
  });
  await forgetAllowance(database, new Date(now.getTime() - LIMITS.uploadUnusedSeconds * 1000));
  await forgetReservations(database, now);
  await deleteForgottenKeys(database, new Date(now.getTime() - LIMITS.idempotencySeconds * 1000));
}

/** Rows that one statement deletes. */
const FORGET_BATCH = 5000;

/**
 * Deletes deliveries, transfers, pings and jobs 30 days after their end, when the jobs are no longer readable.
 * The ledger keeps their cost.
 */
export async function forgetOldRecords({ database, clock }: FinishDeps): Promise<void> {
  const before = new Date(clock.now().getTime() - LIMITS.recordReadableSeconds * 1000);
  for (const forget of [forgetDeliveries, forgetTransfers, forgetPings, forgetJobs]) {
    while ((await forget(database, before, FORGET_BATCH)) === FORGET_BATCH);
  }
}
