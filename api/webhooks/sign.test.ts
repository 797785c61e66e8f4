import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signatureHeaders } from '#api/webhooks/sign.ts';
import { newWebhookSecret } from '#api/webhooks/webhook-secret.ts';

const SECRET = 'whsec_abcdefghijklmnopqrstuvwxyz012345';
const body = Buffer.from('{"id":"evt_1","name":"é"}');
const sign = (sentAt: Date, secret = SECRET): Record<string, string> =>
  signatureHeaders({ secret, eventId: 'evt_1', body, sentAt });

describe('signatureHeaders', () => {
  // Promise, Events: Envelope, headers and signature
  it('signs time and body with the secret, its prefix included', () => {
    const expected = createHmac('sha256', SECRET).update('1700000000.{"id":"evt_1","name":"é"}').digest('hex');
    expect(sign(new Date(1_700_000_000_999))['svc-signature']).toBe(`t=1700000000,v1=${expected}`);
  });

  it('signs for Standard Webhooks with the base64 bytes after whsec_', () => {
    const headers = sign(new Date(1_700_000_000_000));
    const key = Buffer.from('abcdefghijklmnopqrstuvwxyz012345', 'base64');
    expect(key).toHaveLength(24);
    const expected = createHmac('sha256', key).update(`evt_1.1700000000.${body.toString()}`).digest('base64');
    expect(headers).toMatchObject({
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1700000000',
      'webhook-signature': `v1,${expected}`,
    });
  });

  it('returns another signature for another time and another secret', () => {
    const signatures = [sign(new Date(1000)), sign(new Date(2000)), sign(new Date(1000), newWebhookSecret())];
    expect(new Set(signatures.map((headers) => headers['svc-signature'])).size).toBe(3);
    expect(new Set(signatures.map((headers) => headers['webhook-signature'])).size).toBe(3);
  });
});

describe('newWebhookSecret', () => {
  it('returns whsec_ and 32 random letters and digits', () => {
    const secrets = Array.from({ length: 50 }, newWebhookSecret);
    expect(secrets.every((secret) => /^whsec_[A-Za-z0-9]{32}$/.test(secret))).toBe(true);
    expect(new Set(secrets).size).toBe(50);
  });
});
