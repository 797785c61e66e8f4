import { describe, expect, it } from 'vitest';
import { sendPing } from '#api/webhooks/send-ping.ts';
import { newWebhookSecret } from '#api/webhooks/webhook-secret.ts';
import { newId } from '#crds/contract/ids.ts';
import { startReceiver, type Received } from '#test/support/receiver.ts';
import { eventOf, expectSigned, START, status, webhookSender } from '#test/support/webhook-sender.ts';

const { deps } = await webhookSender();

describe('sendPing', () => {
  it.each([
    [204, true],
    [500, false],
  ])('returns for status %i delivered %s', async (code, delivered) => {
    const receiver = await startReceiver({ respond: status(code) });
    const secret = newWebhookSecret();
    const eventId = newId('event');
    const result = await sendPing(deps, { eventId, url: receiver.url, secret, livemode: false });
    expect(result).toEqual({ delivered, status: code, durationMs: 0 });
    expect(receiver.received).toHaveLength(1);
    const request = receiver.received[0] as Received;
    expect(request.headers['svc-event-id']).toBe(eventId);
    expect(eventOf(request)).toEqual({
      id: eventId,
      type: 'ping',
      created_at: '2026-01-01T00:00:00.000Z',
      livemode: false,
      data: {},
    });
    expectSigned(request, secret, START);
  });

  it('returns status 0 when there is no response', async () => {
    const ping = { eventId: newId('event'), url: 'https://127.0.0.1:1/', secret: newWebhookSecret(), livemode: true };
    expect(await sendPing(deps, ping)).toMatchObject({ delivered: false, status: 0 });
  });
});
