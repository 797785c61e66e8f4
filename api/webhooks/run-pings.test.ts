import { beforeEach, describe, expect, it } from 'vitest';
import { runPing, claimWaitingPings } from '#api/webhooks/run-pings.ts';
import { findPingOutcome, forgetPings, insertPing, claimPings, withdrawPing } from '#api/webhooks/webhook-ping-rows.ts';
import { newWebhookSecret, secretContext } from '#api/webhooks/webhook-secret.ts';
import { sealUrl, urlContext } from '#api/webhooks/stored-url.ts';
import { newId } from '#crds/contract/ids.ts';
import { startReceiver, type Received } from '#test/support/receiver.ts';
import { eventOf, expectSigned, START, status, webhookSender } from '#test/support/webhook-sender.ts';

const sender = await webhookSender();
const { database, deps } = sender;
const secret = newWebhookSecret();
beforeEach(() => database.query('truncate webhook_pings'));

/** Inserts a ping. Returns its event id, or null when the account has too many unfinished pings. */
async function enqueue(url = 'https://127.0.0.1:1/', most = 20): Promise<string | null> {
  const eventId = newId('event');
  const ping = {
    eventId,
    accountId: sender.accountId,
    url: sealUrl(deps.secretBox, url, urlContext.ping(eventId)),
    sealedSecret: deps.secretBox.seal(secret, secretContext.ping(eventId)),
    livemode: true,
    createdAt: deps.clock.now(),
  };
  return (await insertPing(database, ping, { most, since: new Date(sender.time - 15_000) })) ? eventId : null;
}

describe('a ping', () => {
  it('is claimed by exactly one of several couriers', async () => {
    const inserted = await Promise.all(Array.from({ length: 30 }, () => enqueue('https://127.0.0.1:1/', 30)));
    const claimed = await Promise.all(Array.from({ length: 5 }, () => claimWaitingPings(deps, 10)));
    const ids = claimed.flat().map(({ eventId }) => eventId);
    const rest = (await claimWaitingPings(deps, 100)).map(({ eventId }) => eventId);
    expect([ids.length + rest.length, new Set([...ids, ...rest])]).toEqual([30, new Set(inserted)]);
    expect(await claimWaitingPings(deps, 100)).toEqual([]);
  });

  it('is skipped without a wait while another courier claims it', async () => {
    const inserted = [await enqueue(), await enqueue()];
    const claim = { now: deps.clock.now(), since: new Date(0), limit: 1 };
    await database.transaction(async (tx) => {
      const [first] = await claimPings(tx, claim);
      const others = await claimWaitingPings(deps, 10);
      expect([first?.eventId, ...others.map(({ eventId }) => eventId)]).toEqual(expect.arrayContaining(inserted));
      expect(others).toHaveLength(1);
    });
  });

  it.each([
    [204, true],
    [500, false],
  ])('with response status %i has delivered %s', async (code, delivered) => {
    const receiver = await startReceiver({ respond: status(code) });
    const eventId = String(await enqueue(receiver.url));
    for (const ping of await claimWaitingPings(deps, 1)) await runPing(deps, ping);
    expect(await findPingOutcome(database, eventId)).toEqual({ delivered, status: code, durationMs: 0 });
    expect(receiver.received).toHaveLength(1);
    const [request] = receiver.received as [Received];
    expect(eventOf(request)).toMatchObject({ id: eventId, type: 'ping', data: {} });
    expectSigned(request, secret, START);
  });

  it('is never sent again after its courier died', async () => {
    const eventId = String(await enqueue());
    expect(await claimWaitingPings(deps, 1)).toHaveLength(1);
    sender.time += 50_000;
    expect(await claimWaitingPings(deps, 1)).toEqual([]);
    expect(await withdrawPing(database, eventId)).toBe(false);
    expect(await findPingOutcome(database, eventId)).toBeNull();
  });

  it('is not delivered when the process stops during the request', async () => {
    const stopping = new AbortController();
    const receiver = await startReceiver({ respond: () => stopping.abort() });
    const eventId = String(await enqueue(receiver.url));
    for (const ping of await claimWaitingPings(deps, 1)) await runPing(deps, ping, stopping.signal);
    expect(await findPingOutcome(database, eventId)).toMatchObject({ delivered: false, status: 0 });
  });

  it('can be withdrawn before it is claimed and is then never sent', async () => {
    expect(await withdrawPing(database, String(await enqueue()))).toBe(true);
    expect(await claimWaitingPings(deps, 1)).toEqual([]);
  });

  it('is not sent when it is older than a minute', async () => {
    await enqueue();
    sender.time += 60_000;
    expect(await claimWaitingPings(deps, 1)).toEqual([]);
  });

  it('counts towards the limit of its account until it ends or times out', async () => {
    const receiver = await startReceiver();
    expect([await enqueue(receiver.url, 2), await enqueue(receiver.url, 2), await enqueue(receiver.url, 2)]).toEqual([
      expect.any(String),
      expect.any(String),
      null,
    ]);
    for (const ping of await claimWaitingPings(deps, 1)) await runPing(deps, ping);
    expect([await enqueue(receiver.url, 2), await enqueue(receiver.url, 2)]).toEqual([expect.any(String), null]);
    sender.time += 15_000;
    expect(await enqueue(receiver.url, 2)).not.toBeNull();
  });

  it('is deleted by its age', async () => {
    await enqueue();
    sender.time += 1;
    await enqueue();
    expect(await forgetPings(database, new Date(START), 10)).toBe(1);
    expect(await forgetPings(database, new Date(START), 10)).toBe(0);
  });
});
