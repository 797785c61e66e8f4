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
export type Receipt = z.infer<typeof receiptSchema>;

/** `typ` of the JWS, which prevents use of the signature for another kind of document. */
const TYPE = 'mediajobs-receipt+jws';

/** Returns the receipt of a job. It is always the same, because Ed25519 signatures are deterministic. */
export function receipt(keys: ReceiptKeys, job: FinishedJob, charge: JobCharge): Receipt {
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
