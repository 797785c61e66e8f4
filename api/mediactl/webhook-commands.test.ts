import { describe, expect, it } from 'vitest';
import type { MediactlService } from '#api/mediactl/open-service.ts';
import { deliveries, resend } from '#api/mediactl/webhook-commands.ts';
import { newId } from '#crds/contract/ids.ts';
import { startReceiver, type Received } from '#test/support/receiver.ts';
import { eventIds, expectSigned, START, status, webhookSender } from '#test/support/webhook-sender.ts';

const sender = await webhookSender();
const { database, deps } = sender;
const service: MediactlService = {
  database,
  clock: deps.clock,
  newId,
  peppers: ['p'.repeat(32)],
  baseUrl: null,
  dashboardUrl: null,
};

/** Returns a receiver that fails until `recover` is called, with the dropped event that it refused eight times. */
async function droppedEvent(): Promise<{
  id: string;
  secret: string;
  receiver: Awaited<ReturnType<typeof startReceiver>>;
  recover: () => void;
}> {
  let code = 503;
  const receiver = await startReceiver({ respond: (response) => status(code)(response) });
  const { secret } = await sender.register(receiver.url);
  await sender.finishJob();
  for (let attempt = 1; attempt <= 8; attempt += 1) {
    await sender.deliverDue();
    sender.time += 12 * 3600 * 1000;
  }
  expect(receiver.received).toHaveLength(8);
  return { id: String(eventIds(receiver)[0]), secret, receiver, recover: () => (code = 200) };
}

describe('webhook deliveries', () => {
  // Promise, Events: The operator lists dropped events and sends them again
  it('lists those of an account, newest first, or only dropped ones', async () => {
    const { id } = await droppedEvent();
    const waiting = await sender.finishJob();
    const all = await deliveries(service, { account: sender.accountId });
    expect(all).toMatchObject({
      list: [
        { state: 'queued', job: waiting, attempts: 0 },
        { event: id, state: 'dropped', attempts: 8, last_status: 503, next_at: null },
      ],
    });
    expect(await deliveries(service, { account: sender.accountId, dropped: true })).toMatchObject({
      list: [{ event: id }],
    });
    const other = newId('account');
    await database.query('insert into accounts (id, name, created_at) values ($1, $1, $2)', [other, new Date(0)]);
    expect(await deliveries(service, { account: other })).toEqual({ list: [] });
    expect(await deliveries(service, { dropped: true })).toMatchObject({ list: [{ event: id }] });
  });

  it('refuses an account that does not exist', async () => {
    await expect(deliveries(service, { account: 'acc_none' })).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('webhook resend', () => {
  // Promise, Events: The operator lists dropped events and sends them again
  it('sends a dropped event again with the same id, body and secret, a new signature and eight attempts', async () => {
    const { id, secret, receiver, recover } = await droppedEvent();
    expect(await resend(service, id)).toMatchObject({
      object: { event: id, state: 'queued', attempts: 0, done_at: null },
    });
    await sender.deliverDue();
    expect(receiver.received).toHaveLength(9);
    recover();
    sender.time += 10_000;
    await sender.deliverDue();
    expect(receiver.received).toHaveLength(10);
    expect(new Set(receiver.received.map(({ body }) => body.toString('hex'))).size).toBe(1);
    expectSigned(receiver.received.at(-1) as Received, secret, sender.time);
    expect(await deliveries(service, {})).toMatchObject({
      list: [{ event: id, state: 'delivered', attempts: 2, last_status: 200, last_error: null }],
    });
  });

  it('sends a delivered event again', async () => {
    const receiver = await startReceiver();
    await sender.register(receiver.url);
    await sender.finishJob();
    await sender.deliverDue();
    await resend(service, String(eventIds(receiver)[0]));
    await sender.deliverDue();
    expect(new Set(eventIds(receiver)).size).toBe(1);
    expect(receiver.received).toHaveLength(2);
  });

  it('refuses an event that has not ended', async () => {
    await sender.register('https://127.0.0.1:1/');
    await sender.finishJob();
    await sender.deliverDue();
    const { rows } = await database.query<{ id: string }>('select id from webhook_deliveries');
    const due = new Date(START + 10_000).toISOString();
    await expect(resend(service, rows[0]?.id ?? '')).rejects.toThrow(
      `The event ${rows[0]?.id} has not ended; its next attempt is due at ${due}.`,
    );
    expect(await deliveries(service, {})).toMatchObject({
      list: [{ state: 'retrying', attempts: 1, last_status: null, last_error: expect.any(String) }],
    });
  });

  it('refuses an event that does not exist', async () => {
    await expect(resend(service, 'evt_none')).rejects.toMatchObject({ code: 'not_found' });
  });
});
