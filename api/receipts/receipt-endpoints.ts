import type { Endpoint } from '#api/http/endpoint.ts';
import { readJob } from '#api/jobs/read-jobs.ts';
import { receiptKeysObject, receiptKeysSchema } from '#api/receipts/receipt-keys.ts';
import { readReceipt } from '#api/receipts/read-receipt.ts';
import { receiptSchema } from '#api/receipts/receipt.ts';

/** Endpoints of receipts: docs/reference/receipts.md. */
export const receiptEndpoints: readonly Endpoint[] = [
  {
    method: 'GET',
    path: '/v1/jobs/:id/receipt',
    summary: 'Get the signed receipt of a finished job.',
    lane: 'other',
    responses: { 200: { description: 'The receipt; every response is the same.', schema: receiptSchema } },
    errors: ['not_found', 'job_not_finished'],
    handle: async (deps, { caller, params }) => {
      const job = await readJob(deps, { caller, input: { id: params['id'] ?? '' } });
      return { status: 200, headers: { 'Cache-Control': 'private, no-store' }, body: await readReceipt(deps, job) };
    },
  },
  {
    method: 'GET',
    path: '/v1/receipt_keys',
    summary: 'Public keys that verify receipts: a list, and a JWK set.',
    lane: 'public',
    responses: { 200: { description: 'The current key, then the retired keys.', schema: receiptKeysSchema } },
    errors: [],
    handle: async ({ receiptKeys }) => ({
      status: 200,
      headers: { 'Cache-Control': 'public, max-age=300' },
      body: receiptKeysObject(receiptKeys),
    }),
  },
];
