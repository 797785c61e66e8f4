import { findCharge } from '#api/billing/ledger-rows.ts';
import type { Dependencies } from '#api/dependencies.ts';
import { isUnfinished, type Job } from '#api/jobs/job.ts';
import type { ReceiptKeys } from '#api/receipts/receipt-keys.ts';
import type { FinishedJob } from '#api/receipts/receipt-payload.ts';
import { receipt, type Receipt } from '#api/receipts/receipt.ts';
import { MediaError } from '#crds/contract/media-error.ts';

interface ReceiptDeps extends Pick<Dependencies, 'database'> {
  readonly receiptKeys: ReceiptKeys;
}

/** Returns the signed receipt of a finished job. @throws MediaError job_not_finished */
export async function readReceipt({ database, receiptKeys }: ReceiptDeps, job: Job): Promise<Receipt> {
  if (!isFinished(job)) {
    const message = `The job is ${job.status}; its receipt is available once it has succeeded, failed or been canceled.`;
    throw new MediaError('job_not_finished', message);
  }
  const charge = await findCharge(database, job.id);
  if (charge === null) throw new Error(`the finished job ${job.id} is not in the ledger`);
  return receipt(receiptKeys, job, charge);
}

function isFinished(job: Job): job is FinishedJob {
  return !isUnfinished(job) && job.completedAt !== null;
}
