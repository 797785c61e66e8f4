/** What time does to jobs, uploads, files and records. Each step is safe to repeat and to cut off. */
import { deleteLater, forgetDeletion, selectDueDeletions } from '#api/files/file-deletion-rows.ts';
import type { FileStore } from '#api/files/file-store.ts';
import { finishJob, type FinishDeps } from '#api/jobs/finish-job.ts';
import { deleteForgottenKeys } from '#api/jobs/idempotency-rows.ts';
import { outputFolder } from '#api/jobs/job.ts';
import { markFilesDeleted, selectExpiredJobs, selectOverdueJobs } from '#api/jobs/job-progress-rows.ts';
import { contentKey, partsFolder } from '#api/uploads/upload.ts';
import { deleteUpload, forgetAllowance, selectExpiredUploads } from '#api/uploads/upload-rows.ts';
import { forgetTransfers } from '#api/transfers/transfer-rows.ts';
import { forgetDeliveries } from '#api/webhooks/delivery-record-rows.ts';
import { forgetPings } from '#api/webhooks/webhook-ping-rows.ts';
import { LIMITS } from '#crds/plans.ts';

const BATCH = 200;

/** Deletes the files of jobs past `expires_at`. Spec: Job statuses. */
export async function expireOutputs({ database, clock }: FinishDeps): Promise<void> {
  const now = clock.now();
  for (const job of await selectExpiredJobs(database, now, BATCH)) {
    await database.transaction(async (tx) => {
      if (await markFilesDeleted(tx, job.id, now)) await deleteLater(tx, outputFolder(job), now);
    });
  }
}

/** Fails jobs that waited 30 minutes and never got their turn. Spec: Time a job waits for capacity. */
export async function failOverdueJobs(deps: FinishDeps): Promise<void> {
  // The controller ends those that have a MediaJob; the minute more leaves it the first word.
  const since = new Date(deps.clock.now().getTime() - (LIMITS.jobWaitSeconds + 60) * 1000);
  for (const job of await selectOverdueJobs(deps.database, since, BATCH)) {
    const message = `The job waited ${LIMITS.jobWaitSeconds / 60} minutes for a free engine and was given up. Send it again later.`;
    await finishJob(deps, job.id, { kind: 'failed', fence: null, error: { code: 'timeout', message } });
  }
}

/** Carries out the deletions that transactions have decided. */
export async function deleteFiles({ database, clock, files }: FinishDeps & { files: FileStore }): Promise<void> {
  for (const key of await selectDueDeletions(database, clock.now(), BATCH)) {
    if (key.endsWith('/')) for await (const below of files.list(key)) await files.delete(below);
    else await files.delete(key);
    await forgetDeletion(database, key);
  }
}

/** Forgets unused uploads, old allowance entries and idempotency keys. Spec: Upload states; hourly. */
export async function expireUploads({ database, clock }: FinishDeps): Promise<void> {
  const now = clock.now();
  for (const { id } of await selectExpiredUploads(database, now, BATCH)) {
    await database.transaction(async (tx) => {
      await deleteUpload(tx, id);
      await deleteLater(tx, contentKey(id), now);
      await deleteLater(tx, partsFolder(id), now);
    });
  }
  await forgetAllowance(database, new Date(now.getTime() - LIMITS.uploadUnusedSeconds * 1000));
  await deleteForgottenKeys(database, new Date(now.getTime() - LIMITS.idempotencySeconds * 1000));
}

/** Rows that one statement deletes. */
const FORGET_BATCH = 5000;

/** Forgets deliveries, transfers and pings 30 days after their end, when their jobs are no longer readable. */
export async function forgetOldRecords({ database, clock }: FinishDeps): Promise<void> {
  const before = new Date(clock.now().getTime() - LIMITS.recordReadableSeconds * 1000);
  for (const forget of [forgetDeliveries, forgetTransfers, forgetPings]) {
    while ((await forget(database, before, FORGET_BATCH)) === FORGET_BATCH);
  }
}
