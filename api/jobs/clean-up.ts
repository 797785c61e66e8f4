/** What time does to jobs, uploads, files and records. Each step is safe to repeat and to cut off. */
import { forgetReservations } from '#api/billing/direct-reservation-rows.ts';
import { deleteLater, endDeletion, postponeDeletion, selectDueDeletions } from '#api/files/file-deletion-rows.ts';
import type { FileStore } from '#api/files/file-store.ts';
import { deleteOutputs } from '#api/jobs/delete-outputs.ts';
import { TICKET_SECONDS } from '#api/jobs/dispatch-jobs.ts';
import { finishJob, type FinishDeps } from '#api/jobs/finish-job.ts';
import { deleteForgottenKeys } from '#api/jobs/idempotency-rows.ts';
import { forgetJobs, markFilesDeleted, selectExpiredJobs, selectOverdueJobs } from '#api/jobs/job-progress-rows.ts';
import { contentKey, partsFolder } from '#api/uploads/upload.ts';
import { deleteUpload, forgetAllowance, selectExpiredUploads } from '#api/uploads/upload-rows.ts';
import { forgetTransfers } from '#api/transfers/transfer-rows.ts';
import { forgetDeliveries } from '#api/webhooks/delivery-record-rows.ts';
import { forgetPings } from '#api/webhooks/webhook-ping-rows.ts';
import { LIMITS } from '#crds/plans.ts';
import { faultPoint } from '#crds/shared/fault-point.ts';

/** Rows that one turn takes. Each step takes turns until nothing is left, so that it keeps up with any number. */
const BATCH = 200;

/** Deletes the files of jobs past `expires_at`. Spec: Job statuses. */
export async function expireOutputs({ database, clock }: FinishDeps): Promise<void> {
  const now = clock.now();
  await untilNone(
    () => selectExpiredJobs(database, now, BATCH),
    (job) =>
      database.transaction(async (tx) => {
        if (await markFilesDeleted(tx, job.id, now)) await deleteOutputs(tx, job, now);
      }),
  );
}

/** Fails jobs that waited 30 minutes and never got their turn. Spec: Time a job waits for capacity. */
export async function failOverdueJobs(deps: FinishDeps): Promise<void> {
  // The controller ends those that have a MediaJob; the minute more leaves it the first word.
  const since = new Date(deps.clock.now().getTime() - (LIMITS.jobWaitSeconds + 60) * 1000);
  const message = `The job waited ${LIMITS.jobWaitSeconds / 60} minutes for a free engine and was given up. Send it again later.`;
  await untilNone(
    () => selectOverdueJobs(deps.database, since, BATCH),
    async (job) => {
      await finishJob(deps, job.id, { kind: 'failed', fence: null, error: { code: 'timeout', message } });
    },
  );
}

/** Gives up outputs in parts of attempts that can no longer complete them. */
export async function dropOutputParts({
  clock,
  files,
}: Pick<FinishDeps, 'clock'> & { files: FileStore }): Promise<void> {
  await files.dropParts(new Date(clock.now().getTime() - TICKET_SECONDS * 1000));
}

const RETRY_DELETION_MS = 10_000;

/**
 * Carries out the deletions that transactions have decided.
 * @throws what the first one that fails throws; the next turn begins behind it.
 */
export async function deleteFiles({ database, clock, files }: FinishDeps & { files: FileStore }): Promise<void> {
  const now = clock.now();
  await untilNone(
    () => selectDueDeletions(database, now, BATCH),
    async (key) => {
      try {
        if (key.endsWith('/')) for await (const below of files.list(key)) await files.delete(below);
        else await files.delete(key);
      } catch (error) {
        await postponeDeletion(database, key, new Date(now.getTime() + RETRY_DELETION_MS));
        throw error;
      }
      await faultPoint('after-file-deletion');
      await endDeletion(database, key);
    },
  );
}

/** Forgets unused uploads, old allowance entries, idempotency keys and lost reservations. Spec: Upload states; hourly. */
export async function expireUploads({ database, clock }: FinishDeps): Promise<void> {
  const now = clock.now();
  await untilNone(
    () => selectExpiredUploads(database, now, BATCH),
    ({ id }) =>
      database.transaction(async (tx) => {
        await deleteUpload(tx, id);
        await deleteLater(tx, contentKey(id), now);
        await deleteLater(tx, partsFolder(id), now);
      }),
  );
  await forgetAllowance(database, new Date(now.getTime() - LIMITS.uploadUnusedSeconds * 1000));
  await forgetReservations(database, now);
  await deleteForgottenKeys(database, new Date(now.getTime() - LIMITS.idempotencySeconds * 1000));
}

/** Rows that one statement deletes. */
const FORGET_BATCH = 5000;

/**
 * Forgets deliveries, transfers, pings and jobs 30 days after their end, when the jobs are no longer readable.
 * What they cost stays in the ledger.
 */
export async function forgetOldRecords({ database, clock }: FinishDeps): Promise<void> {
  const before = new Date(clock.now().getTime() - LIMITS.recordReadableSeconds * 1000);
  for (const forget of [forgetDeliveries, forgetTransfers, forgetPings, forgetJobs]) {
    while ((await forget(database, before, FORGET_BATCH)) === FORGET_BATCH);
  }
}

async function untilNone<Row>(
  select: () => Promise<readonly Row[]>,
  handle: (row: Row) => Promise<void>,
): Promise<void> {
  for (;;) {
    const rows = await select();
    for (const row of rows) await handle(row);
    if (rows.length < BATCH) return;
  }
}
