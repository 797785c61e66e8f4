import { createHmac } from 'node:crypto';

interface Signable {
  /** `whsec_` and 32 letters and digits. */
  readonly secret: string;
  readonly eventId: string;
  /** Bytes of the request body. */
  readonly body: Buffer;
  /** Time of this attempt. */
  readonly sentAt: Date;
}

/**
 * Returns the headers that prove the origin of an event: docs/reference/webhooks.md#verify-the-signature. The key of
 * `svc-signature` is the secret, `whsec_` included. The other three belong to Standard Webhooks: their key is the text
 * after `whsec_`, decoded as base64 (24 bytes). A receiver may verify either one with the same secret.
 */
export function signatureHeaders({ secret, eventId, body, sentAt }: Signable): Record<string, string> {
  const seconds = String(Math.floor(sentAt.getTime() / 1000));
  const own = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex');
  const standardKey = Buffer.from(secret.slice(PREFIX.length), 'base64');
  const standard = createHmac('sha256', standardKey).update(`${eventId}.${seconds}.`).update(body).digest('base64');
  return {
    'svc-signature': `t=${seconds},v1=${own}`,
    'webhook-id': eventId,
    'webhook-timestamp': seconds,
    'webhook-signature': `v1,${standard}`,
  };
}

const PREFIX = 'whsec_';
