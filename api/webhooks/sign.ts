import { createHmac } from 'node:crypto';

interface Signable {
  /** `whsec_` and 32 letters and digits. */
  readonly secret: string;
  readonly eventId: string;
  /** Exactly the bytes that are sent. */
  readonly body: Buffer;
  /** Time of this attempt. */
  readonly sentAt: Date;
}

/**
 * The headers that prove who sent an event. `svc-signature` is keyed with the whole secret, `whsec_`
 * included (spec: Events / Signature). The other three are Standard Webhooks' own: there the key is what
 * `whsec_` is followed by, read as base64 (24 bytes), so that a receiver may use either one with the same secret.
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
