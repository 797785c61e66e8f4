import type { IncomingMessage } from 'node:http';
import { request } from 'undici';

const HEADER = 'mediajobs-forwarded';
const RESPONSE_TIMEOUT_MS = 5000;

export interface Forwarded {
  readonly authorization: string | undefined;
  readonly body: object;
  /** Aborts when the sender no longer waits. Default: never. */
  readonly signal?: AbortSignal;
  /** Default: 5 seconds. */
  readonly timeoutMs?: number;
}

/** Returns whether a request was forwarded. It is forwarded once, to avoid a loop between two supposed leaders. */
export function isForwarded({ headers }: IncomingMessage): boolean {
  return headers[HEADER] !== undefined;
}

/** Sends a worker's request to the leading controller. Returns its response; status 503 without one. */
export async function forwardToLeader(
  leader: URL,
  { authorization, body, signal, timeoutMs = RESPONSE_TIMEOUT_MS }: Forwarded,
): Promise<{ readonly status: number; readonly body?: object }> {
  const sender = authorization === undefined ? {} : { authorization };
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await request(leader, {
      method: 'POST',
      headers: { ...sender, [HEADER]: '1', 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
    });
    if (response.statusCode === 200) return { status: 200, body: (await response.body.json()) as object };
    await response.body.dump();
    return { status: response.statusCode };
  } catch {
    return { status: 503 };
  }
}
