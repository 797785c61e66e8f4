import { createHmac } from 'node:crypto';

/**
 * Returns the token that authenticates the worker of an attempt at the heartbeat port. It is derived from the key, so
 * that every controller with the key can verify it without a look-up.
 */
export function heartbeatToken(key: Buffer, jobId: string, attempt: number): string {
  return createHmac('sha256', key).update(`${jobId}/${attempt}`).digest('base64url');
}
