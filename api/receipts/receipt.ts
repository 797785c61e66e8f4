import { sign } from 'node:crypto';
import { z } from 'zod';
import { signingKey, type ReceiptKeys } from '#api/receipts/receipt-keys.ts';
import {
  receiptPayload,
  receiptPayloadSchema,
  type FinishedJob,
  type JobCharge,
} from '#api/receipts/receipt-payload.ts';

export const receiptSchema = z
  .object({
    object: z.literal('receipt'),
    job_id: z.string(),
    livemode: z.boolean(),
    issued_at: z.iso.datetime(),
    key_id: z.string(),
    algorithm: z.literal('EdDSA'),
    payload: receiptPayloadSchema,
    jws: z.string().meta({ description: 'Compact JWS over the payload; it alone is authoritative.' }),
  })
  .meta({ id: 'Receipt' });

/** `typ` of the JWS, so that the signature stands for nothing else. */
const TYPE = 'mediajobs-receipt+jws';

/** Computed from the job's row alone: the same receipt every time (Ed25519 signatures are deterministic). */
export function receipt(keys: ReceiptKeys, job: FinishedJob, charge: JobCharge): z.infer<typeof receiptSchema> {
  const key = signingKey(keys, job.completedAt);
  const payload = receiptPayload(job, charge);
  const signed = `${encode({ alg: 'EdDSA', kid: key.id, typ: TYPE })}.${encode(payload)}`;
  return {
    object: 'receipt',
    job_id: job.id,
    livemode: job.livemode,
    issued_at: payload.completed_at,
    key_id: key.id,
    algorithm: 'EdDSA',
    payload,
    jws: `${signed}.${sign(null, Buffer.from(signed), key.privateKey).toString('base64url')}`,
  };
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
