import { beforeEach, describe, expect, it } from 'vitest';
import { runPing, takeWaitingPings } from '#api/webhooks/run-pings.ts';
import { findPingEnd, forgetPings, insertPing, takePings, withdrawPing } from '#api/webhooks/webhook-ping-rows.ts';
import { newWebhookSecret, secretContext } from '#api/webhooks/webhook-secret.ts';
import { newId } from '#crds/ids.ts';
import { startReceiver, type Received } from '#test/support/receiver.ts';
import { eventOf, expectSigned, START, status, webhookSender } from '#test/support/webhook-sender.ts';

const sender = await webhookSender();
const { database, deps } = sender;
const secret = newWebhookSecret();
beforeEach(() => database.query('truncate webhook_pings'));

/** The event's id; null when the account has too many. */
async function leave(url = 'https://127.0.0.1:1/', most = 20): Promise<string | null> {
  const eventId = newId('event');
  const ping = {
    eventId,
    accountId: sender.accountId,
    url,
    sealedSecret: deps.secretBox.seal(secret, secretContext.ping(eventId)),
    livemode: true,
    createdAt: deps.clock.now(),
  };
  return (await insertPing(database, ping, { most, since: new Date(sender.time - 15_000) })) ? eventId : null;
}

describe('a ping', () => {
  it('is taken once, by whichever courier comes first', async () => {
    const left = await Promise.all(Array.from({ length: 30 }, () => leave('https://127.0.0.1:1/', 30)));
    const taken = await Promise.all(Array.from({ length: 5 }, () => takeWaitingPings(deps, 10)));
    const ids = taken.flat().map(({ eventId }) => eventId);
    const rest = (await takeWaitingPings(deps, 100)).map(({ eventId }) => eventId);
    expect([ids.length + rest.length, new Set([...ids, ...rest])]).toEqual([30, new Set(left)]);
    expect(await takeWaitingPings(deps, 100)).toEqual([]);
  });

  it('is left to the courier that is taking it, without a wait', async () => {
    const left = [await leave(), await leave()];
    const take = { now: deps.clock.now(), since: new Date(0), limit: 1 };
    await database.transaction(async (tx) => {
      const [first] = await takePings(tx, take);
      const others = await takeWaitingPings(deps, 10);
      expect([first?.eventId, ...others.map(({ eventId }) => eventId)]).toEqual(expect.arrayContaining(left));
      expect(others).toHaveLength(1);
    });
  });

  it.each([
    [204, true],
    [500, false],
  ])('that is answered %i ends with delivered %s', async (code, delivered) => {
    const receiver = await startReceiver({ answer: status(code) });
    const eventId = String(await leave(receiver.url));
    for (const ping of await takeWaitingPings(deps, 1)) await runPing(deps, ping);
    expect(await findPingEnd(database, eventId)).toEqual({ delivered, status: code, durationMs: 0 });
    expect(receiver.received).toHaveLength(1);
    const [request] = receiver.received as [Received];
    expect(eventOf(request)).toMatchObject({ id: eventId, type: 'ping', data: {} });
    expectSigned(request, secret, START);
  });

  it('whose courier died is never sent again', async () => {
    const eventId = String(await leave());
    expect(await takeWaitingPings(deps, 1)).toHaveLength(1);
    sender.time += 50_000;
    expect(await takeWaitingPings(deps, 1)).toEqual([]);
    expect(await withdrawPing(database, eventId)).toBe(false);
    expect(await findPingEnd(database, eventId)).toBeNull();
  });

  it('that a stop cuts off was not delivered', async () => {
    const stopping = new AbortController();
    const receiver = await startReceiver({ answer: () => stopping.abort() });
    const eventId = String(await leave(receiver.url));
    for (const ping of await takeWaitingPings(deps, 1)) await runPing(deps, ping, stopping.signal);
    expect(await findPingEnd(database, eventId)).toMatchObject({ delivered: false, status: 0 });
  });

  it('is withdrawn while nobody has taken it, and then never sent', async () => {
    expect(await withdrawPing(database, String(await leave()))).toBe(true);
    expect(await takeWaitingPings(deps, 1)).toEqual([]);
  });

  it('that nobody waits for any more is not sent', async () => {
    await leave();
    sender.time += 60_000;
    expect(await takeWaitingPings(deps, 1)).toEqual([]);
  });

  it('counts on the limit of its account until it ends or its time is over', async () => {
    const receiver = await startReceiver();
    expect([await leave(receiver.url, 2), await leave(receiver.url, 2), await leave(receiver.url, 2)]).toEqual([
      expect.any(String),
      expect.any(String),
      null,
    ]);
    for (const ping of await takeWaitingPings(deps, 1)) await runPing(deps, ping);
    expect([await leave(receiver.url, 2), await leave(receiver.url, 2)]).toEqual([expect.any(String), null]);
    sender.time += 15_000;
    expect(await leave(receiver.url, 2)).not.toBeNull();
  });

  it('is forgotten by its age', async () => {
    await leave();
    sender.time += 1;
    await leave();
    expect(await forgetPings(database, new Date(START), 10)).toBe(1);
    expect(await forgetPings(database, new Date(START), 10)).toBe(0);
  });
});
