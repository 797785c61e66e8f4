import { createHmac } from 'node:crypto';

/**
 * What the worker of an attempt proves itself with at the heartbeat port. Follows from the key, so that every
 * controller that has the key can check it without a look-up.
 */
export function heartbeatToken(key: Buffer, jobId: string, attempt: number): string {
  return createHmac('sha256', key).update(`${jobId}/${attempt}`).digest('base64url');
}
