import { request } from 'undici';
import { heartbeatToken } from '#crds/contract/heartbeat-token.ts';
import { transferGrantSchema, type GrantTransfer } from '#crds/contract/transfer-urls.ts';

const RESPONSE_TIMEOUT_MS = 8000;

/** Returns a function that requests transfers from a recorder. It throws when the recorder does not answer. */
export function forwardTransfers(url: string, key: Buffer): GrantTransfer {
  return async (transfer) => {
    const response = await request(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${heartbeatToken(key, transfer.jobId, transfer.attempt)}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(transfer),
      signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
    });
    if (response.statusCode === 200) return transferGrantSchema.parse(await response.body.json());
    await response.body.dump();
    if (response.statusCode === 410) return null;
    throw new Error(`the recorder refused a transfer with status ${response.statusCode}`);
  };
}
