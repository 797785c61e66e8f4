/** Expiry of jobs, uploads, files and records. Every function is idempotent and may be interrupted. */
import type { Dependencies } from '#api/dependencies.ts';
import { forgetReservations } from '#api/billing/direct-reservation-rows.ts';
import { deleteLater, endDeletions, postponeDeletion, selectDueDeletions } from '#api/files/file-deletion-rows.ts';
import type { FileStore } from '#api/files/file-store.ts';
import { deleteOutputs } from '#api/jobs/delete-outputs.ts';
import { finishJob, type FinishDeps } from '#api/jobs/finish-job.ts';
import { JOB_LINK_SECONDS } from '#api/jobs/job.ts';
import { deleteForgottenKeys } from '#api/jobs/idempotency-rows.ts';
import { forgetJobs, markFilesDeleted, selectExpiredJobs, selectOverdueJobs } from '#api/jobs/job-progress-rows.ts';
import { handleRows } from '#api/recorder/handle-rows.ts';
import { contentKey, partsFolder } from '#api/uploads/upload.ts';
import { deleteUpload, forgetAllowance, selectExpiredUploads } from '#api/uploads/upload-rows.ts';
import { forgetTransfers } from '#api/transfers/transfer-rows.ts';
import { forgetDeliveries } from '#api/webhooks/delivery-record-rows.ts';
import { forgetPings } from '#api/webhooks/webhook-ping-rows.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';
import { faultPoint } from '#crds/process/fault-point.ts';

/** Rows of one batch. Each function runs batches until no rows are left. */
const BATCH = 200;

type CleanUpDeps = Pick<FinishDeps, 'database' | 'clock'> & Pick<Dependencies, 'log'>;

/** Deletes the files of jobs past `expires_at` (docs/reference/jobs.md#job-object). */
export async function expireOutputs(deps: CleanUpDeps): Promise<void> {
  const { database } = deps;
  const now = deps.clock.now();
  await handleRows(deps, {
    batch: BATCH,
    select: (limit) => selectExpiredJobs(database, now, limit),
    handle: (job) =>
      database.transaction(async (tx) => {
        if (await markFilesDeleted(tx, job.id, now)) await deleteOutputs(tx, job, now);
      }),
    fieldsOf: ({ id }) => ({ job_id: id }),
  });
}

/** Fails jobs that waited 30 minutes for capacity (docs/reference/limits-and-prices.md#limits-for-every-plan). */
export async function failOverdueJobs(deps: FinishDeps & Pick<Dependencies, 'log'>): Promise<void> {
  // One minute more than the controller, which ends the jobs that have a MediaJob.
  const since = new Date(deps.clock.now().getTime() - (LIMITS.jobWaitSeconds + 60) * 1000);
  const message = `The job waited ${LIMITS.jobWaitSeconds / 60} minutes for a free engine and failed. Create it again later.`;
  await handleRows(deps, {
    batch: BATCH,
    select: (limit) => selectOverdueJobs(deps.database, since, limit),
    handle: async ({ id }) => {
      await finishJob(deps, id, { kind: 'failed', fence: null, error: { code: 'timeout', message } });
    },
    fieldsOf: ({ id }) => ({ job_id: id }),
  });
}

/** Aborts multipart outputs whose attempts can no longer complete them. */
export async function dropOutputParts({
  clock,
  files,
}: Pick<FinishDeps, 'clock'> & { files: FileStore }): Promise<void> {
  await files.dropParts(new Date(clock.now().getTime() - JOB_LINK_SECONDS * 1000));
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
  await handleRows(deps, {
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
