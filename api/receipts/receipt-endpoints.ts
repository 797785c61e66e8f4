import type { z } from 'zod';
import type { ApiDeps } from '#api/api-deps.ts';
import { findCharge } from '#api/billing/ledger-rows.ts';
import type { ApiReply, CallerRequest, Endpoint } from '#api/endpoint.ts';
import { isUnfinished, type Job } from '#api/jobs/job.ts';
import { readableJob } from '#api/jobs/read-jobs.ts';
import { receiptKeysObject, receiptKeysSchema } from '#api/receipts/receipt-keys.ts';
import type { FinishedJob } from '#api/receipts/receipt-payload.ts';
import { receipt, receiptSchema } from '#api/receipts/receipt.ts';
import { MediaError } from '#crds/media-error.ts';

/** Spec: Jobs / receipt, receipt_keys. */
export const receiptEndpoints: readonly Endpoint[] = [
  {
    method: 'GET',
    path: '/v1/jobs/:id/receipt',
    summary: 'Get the signed receipt of a finished job.',
    lane: 'other',
    responses: { 200: { description: 'The same every time.', schema: receiptSchema } },
    errors: ['not_found', 'job_not_finished'],
    handle: getReceipt,
  },
  {
    method: 'GET',
    path: '/v1/receipt_keys',
    summary: 'Public keys that verify receipts: a list, and a JWK set.',
    lane: 'open',
    responses: { 200: { description: 'The key in use, then the retired ones.', schema: receiptKeysSchema } },
    errors: [],
    handle: async ({ receiptKeys }) => ({
      status: 200,
      headers: { 'Cache-Control': 'public, max-age=300' },
      body: receiptKeysObject(receiptKeys),
    }),
  },
];

async function getReceipt(deps: ApiDeps, request: CallerRequest): Promise<ApiReply> {
  const headers = { 'Cache-Control': 'private, no-store' };
  return { status: 200, headers, body: await receiptOf(deps, await readableJob(deps, request)) };
}

/** @throws MediaError job_not_finished. */
export async function receiptOf(deps: ApiDeps, job: Job): Promise<z.infer<typeof receiptSchema>> {
  if (!isFinished(job)) {
    const message = `The job is ${job.status}; its receipt is there once it has succeeded, failed or been canceled.`;
    throw new MediaError('job_not_finished', message);
  }
  const charge = await findCharge(deps.database, job.id);
  if (charge === null) throw new Error(`the finished job ${job.id} is not in the ledger`);
  return receipt(deps.receiptKeys, job, charge);
}

function isFinished(job: Job): job is FinishedJob {
  return !isUnfinished(job) && job.completedAt !== null;
}
