/**
 * Signed URLs for the transfers of an attempt. A worker requests each URL when it uses it, since a URL ends with the
 * credentials that signed it: POST `TransferRequest` to `transferAddress` with `Authorization: Bearer <token>`.
 *
 *   200 TransferGrant · 400 not a request · 401 wrong token · 410 the attempt is not current · 503 repeat later
 */
import { z } from 'zod';
import { portAddress } from '#crds/contract/worker-port.ts';

/** Maximum number of parts of an output: 8 of 2 GiB are 16 GiB, the largest file that a tool of the engine may write. */
const MAX_PARTS = 8;

const uploadId = z.string().min(1).max(1024);
export const transferSchema = z.discriminatedUnion('of', [
  z.object({ of: z.literal('input') }),
  /** A whole output of that size. An output that is too large for one PUT is granted an upload in parts. */
  z.object({ of: z.literal('output'), size: z.int().min(0) }),
  z.object({ of: z.literal('part'), uploadId, number: z.int().min(1).max(MAX_PARTS) }),
  /** The POST that joins the parts, as S3's CompleteMultipartUpload. */
  z.object({ of: z.literal('completion'), uploadId }),
]);
export type Transfer = z.infer<typeof transferSchema>;

export const transferRequestSchema = z.object({
  jobId: z.string(),
  attempt: z.int().min(1),
  /** Nonce of the MediaJob: attempts of an earlier one have the same numbers and other outputs. */
  dispatch: z.string(),
  transfer: transferSchema,
});
export type TransferRequest = z.infer<typeof transferRequestSchema>;

export const transferGrantSchema = z.union([
  z.object({ url: z.url() }),
  z.object({ upload: z.object({ id: uploadId, partBytes: z.int().min(1) }) }),
]);
export type TransferGrant = z.infer<typeof transferGrantSchema>;

/** Returns what is granted to an attempt; null when it is not the job's current one. */
export type GrantTransfer = (request: TransferRequest) => Promise<TransferGrant | null>;

export const TRANSFER_PATH = '/transfer';

/** Returns the URL for transfer requests at the port of a heartbeat URL. */
export function transferAddress(heartbeatUrl: string): string {
  return portAddress(heartbeatUrl, TRANSFER_PATH);
}
