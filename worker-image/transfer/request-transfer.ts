import { text } from 'node:stream/consumers';
import type { RunSpec } from '#crds/contract/run-spec.ts';
import {
  transferAddress,
  transferGrantSchema,
  type Transfer,
  type TransferGrant,
  type TransferRequest,
} from '#crds/contract/transfer-urls.ts';
import { isTransient, openRequest } from '#worker-image/transfer/http-request.ts';
import { TransferFailed, TransientFault } from '#worker-image/transfer/retry-transfer.ts';

/**
 * Returns what the controller grants for a transfer of this attempt. Each URL is requested when it is used.
 * @throws TransientFault when the controller does not answer; TransferFailed when it refuses.
 */
export type RequestTransfer = (transfer: Transfer, signal: AbortSignal) => Promise<TransferGrant>;

/** Returns the function that requests transfers of an attempt. */
export function makeRequestTransfer(
  spec: Pick<RunSpec, 'jobId' | 'attempt' | 'dispatch'> & { readonly heartbeat: { url: string; token: string } },
): RequestTransfer {
  const { jobId, attempt, dispatch } = spec;
  const url = transferAddress(spec.heartbeat.url);
  return async (transfer, signal) => {
    const body = JSON.stringify({ jobId, attempt, dispatch, transfer } satisfies TransferRequest);
    const headers = {
      authorization: `Bearer ${spec.heartbeat.token}`,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    };
    const response = await openRequest({ method: 'POST', url, headers, signal }, (request) => request.end(body));
    const content = await text(response).catch((error: unknown) => {
      throw new TransientFault('the response of the controller was interrupted', { cause: error });
    });
    const { statusCode = 0 } = response;
    if (statusCode === 200) return transferGrantSchema.parse(JSON.parse(content));
    const message = `the controller refused the transfer of the ${transfer.of} with status ${statusCode}`;
    throw isTransient(statusCode) ? new TransientFault(message) : new TransferFailed(message);
  };
}

/** Returns a URL for one request. @throws as `RequestTransfer`. */
export async function requestUrl(request: RequestTransfer, transfer: Transfer, signal: AbortSignal): Promise<string> {
  const grant = await request(transfer, signal);
  if ('url' in grant) return grant.url;
  throw new TransferFailed(`the controller granted an upload in parts for the ${transfer.of}`);
}
