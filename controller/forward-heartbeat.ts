import type { IncomingMessage } from 'node:http';
import { request } from 'undici';
import type { HeartbeatBody } from '#crds/contract/run-spec.ts';

const HEADER = 'mediajobs-forwarded';
const RESPONSE_TIMEOUT_MS = 5000;

/** Returns whether a heartbeat was forwarded. It is forwarded once, to avoid a loop between two supposed leaders. */
export function isForwarded({ headers }: IncomingMessage): boolean {
  return headers[HEADER] !== undefined;
}

/** Sends a heartbeat to the leading controller. Returns the status of its response; 503 without a response. */
export async function forwardHeartbeat(
  leader: URL,
  { authorization, body }: { authorization: string | undefined; body: HeartbeatBody },
): Promise<number> {
  const sender = authorization === undefined ? {} : { authorization };
  try {
    const response = await request(leader, {
      method: 'POST',
      headers: { ...sender, [HEADER]: '1', 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
    });
    await response.body.dump();
    return response.statusCode;
  } catch {
    return 503;
  }
}
