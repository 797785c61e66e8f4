import type { ServerResponse } from 'node:http';
import { createSecureContext } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { makeSecretBox } from '#api/store/secret-box.ts';
import { claimDueDeliveries, deliver } from '#api/webhooks/deliver.ts';
import { makeSafeFetch } from '#api/outbound/safe-fetch.ts';
import { startPollingWorkers } from '#api/loops/polling-workers.ts';
import { openUrl, urlContext } from '#api/webhooks/stored-url.ts';
import { startReceiver, trustReceivers } from '#test/support/receiver.ts';
import { eventIds, expectSigned, START, status, webhookSender } from '#test/support/webhook-sender.ts';

const sender = await webhookSender();
const { database, deps } = sender;

/** Returns the counts of attempts, a line for each outcome. */
async function attemptCounts(): Promise<string[]> {
  const lines = (await sender.registry.metrics()).split('\n');
  return lines.filter((line) => line.startsWith('mediajobs_webhook_attempts_total{'));
}

describe('a delivery', () => {
  // Promise, Events: Eight attempts on the schedule, the same bytes with a new signature each, then dropped
  it('makes eight attempts at the scheduled times, with the same bytes and a new signature each time', async () => {
    const times: number[] = [];
    const receiver = await startReceiver({
      respond: (response) => {
        times.push(sender.time);
        status(503)(response);
      },
    });
    const { secret } = await sender.register(receiver.url);
    await sender.finishJob();
    await sender.deliverDue();
    for (const seconds of [10, 60, 300, 1800, 7200, 21_600, 43_200]) {
      sender.time += seconds * 1000 - 1;
      await sender.deliverDue();
      sender.time += 1;
      await sender.deliverDue();
    }
    expect(times.map((at) => (at - START) / 1000)).toEqual([0, 10, 70, 370, 2170, 9370, 30_970, 74_170]);
    sender.time += 7 * 24 * 3600 * 1000;
    await sender.deliverDue();
    expect(receiver.received).toHaveLength(8);
    expect(new Set(receiver.received.map(({ body }) => body.toString('hex'))).size).toBe(1);
    receiver.received.forEach((request, index) => expectSigned(request, secret, times[index] ?? 0));
    const { rows } = await database.query(
      'select attempt, delivered, last_status, done_at is not null as done from webhook_deliveries',
    );
    expect(rows).toEqual([{ attempt: 8, delivered: false, last_status: 503, done: true }]);
  });

  // Promise, Events: Any 2xx within 10 seconds is success; redirects fail; the body is not awaited
  it.each([200, 201, 204, 299])('is done after a response with status %i', async (code) => {
    const receiver = await startReceiver({ respond: status(code) });
    await sender.register(receiver.url);
    await sender.finishJob();
    await sender.deliverDue();
    sender.time += 10_000;
    await sender.deliverDue();
    expect(receiver.received).toHaveLength(1);
  });

  // Promise, Events: Any 2xx within 10 seconds is success; redirects fail; the body is not awaited
  it.each([301, 302, 307, 400, 410, 500])('fails with status %i and is due again 10 seconds later', async (code) => {
    const receiver = await startReceiver({ respond: status(code) });
    await sender.register(receiver.url);
    await sender.finishJob();
    await sender.deliverDue();
    const { rows } = await database.query('select attempt, last_status, done_at, next_at from webhook_deliveries');
    expect(rows).toEqual([{ attempt: 1, last_status: code, done_at: null, next_at: new Date(START + 10_000) }]);
    expect(receiver.received).toHaveLength(1);
  });

  // Promise, Events: Any 2xx within 10 seconds is success; redirects fail; the body is not awaited
  // Promise, Settled where the interface leaves it open: The status line of the response decides the result of a delivery
  it('does not wait for the end of the response body', async () => {
    const receiver = await startReceiver({ respond: (response) => void response.writeHead(200).write('and then') });
    await sender.register(receiver.url);
    await sender.finishJob();
    await sender.deliverDue();
    expect((await database.query('select delivered from webhook_deliveries')).rows).toEqual([{ delivered: true }]);
  });

  it('fails when the receiver resets the connection or its certificate is not trusted', async () => {
    const resetting = await startReceiver({ respond: (response) => void response.socket?.destroy() });
    await sender.register(resetting.url);
    await sender.finishJob();
    await sender.deliverDue();
    const untrusting = {
      ...deps,
      safeFetch: makeSafeFetch({
        resolve: async () => [],
        privateTargets: ['127.0.0.0/8'],
        secureContext: createSecureContext(),
      }),
    };
    sender.time += 10_000;
    for (const delivery of await claimDueDeliveries(untrusting, 1)) await deliver(untrusting, delivery);
    const { rows } = await database.query('select attempt, last_status, last_error from webhook_deliveries');
    expect(rows).toEqual([{ attempt: 2, last_status: null, last_error: "the host's certificate is not trusted" }]);
  });

  it('fails without a connection when webhook_url resolves to a private address', async () => {
    const receiver = await startReceiver();
    await sender.finishJob(receiver.url);
    const strict = {
      ...deps,
      safeFetch: makeSafeFetch({
        resolve: async () => ['127.0.0.1'],
        privateTargets: [],
        secureContext: trustReceivers(),
      }),
    };
    for (const delivery of await claimDueDeliveries(strict, 1)) await deliver(strict, delivery);
    expect(receiver.connections()).toBe(0);
    expect((await database.query('select attempt, last_status from webhook_deliveries')).rows).toEqual([
      { attempt: 1, last_status: null },
    ]);
  });
});

describe('a delivery that cannot be decrypted', () => {
  it('is sent nowhere, fails with a reason, and is delivered after the operator has added the key', async () => {
    const receiver = await startReceiver();
    await sender.register(receiver.url);
    await sender.finishJob();
    const withoutKey = { ...deps, secretBox: makeSecretBox([{ id: 'b', key: Buffer.alloc(32, 2) }]) };
    for (const delivery of await claimDueDeliveries(withoutKey, 10)) await deliver(withoutKey, delivery);
    const { rows } = await database.query('select attempt, done_at, last_error, next_at from webhook_deliveries');
    const last_error = 'the stored URL or secret cannot be decrypted';
    expect(rows).toEqual([{ attempt: 1, done_at: null, last_error, next_at: new Date(START + 10_000) }]);
    expect(receiver.connections()).toBe(0);
    sender.time += 10_000;
    await sender.deliverDue();
    expect(receiver.received).toHaveLength(1);
  });
});

describe('a delivery with a lost attempt', () => {
  it('is sent again after the lease when the process is killed before it records the outcome', async () => {
    const receiver = await startReceiver();
    await sender.register(receiver.url);
    await sender.finishJob();
    const killed = { ...deps, database: { ...database, query: () => Promise.reject(new Error('killed')) } };
    for (const delivery of await claimDueDeliveries(deps, 10))
      await expect(deliver(killed, delivery)).rejects.toThrow('killed');
    sender.time += 29_999;
    await sender.deliverDue();
    expect(receiver.received).toHaveLength(1);
    sender.time += 1;
    await sender.deliverDue();
    expect(receiver.received).toHaveLength(2);
    expect(new Set(eventIds(receiver)).size).toBe(1);
    expect((await database.query('select attempt, delivered from webhook_deliveries')).rows).toEqual([
      { attempt: 2, delivered: true },
    ]);
  });

  it('is dropped after eight attempts without an outcome', async () => {
    await sender.register('https://127.0.0.1:1/');
    await sender.finishJob();
    for (let i = 0; i < 8; i += 1) {
      expect(await claimDueDeliveries(deps, 10)).toHaveLength(1);
      sender.time += 30_000;
    }
    expect(await claimDueDeliveries(deps, 10)).toHaveLength(0);
    expect((await database.query('select attempt, delivered from webhook_deliveries')).rows).toEqual([
      { attempt: 8, delivered: false },
    ]);
  });

  it('ignores the outcome of an attempt that ends after its lease', async () => {
    const receiver = await startReceiver({ respond: status(500) });
    await sender.register(receiver.url);
    await sender.finishJob();
    const [late] = await claimDueDeliveries(deps, 1);
    sender.time += 30_000;
    await claimDueDeliveries(deps, 1);
    const before = await attemptCounts();
    if (late !== undefined) await deliver(deps, late);
    const { rows } = await database.query('select attempt, last_status, lease_until from webhook_deliveries');
    expect(rows).toEqual([{ attempt: 2, last_status: null, lease_until: new Date(START + 60_000) }]);
    expect(await attemptCounts()).toEqual(before);
  });

  it('counts a success once when the attempt that ends after its lease succeeds too', async () => {
    const receiver = await startReceiver();
    await sender.register(receiver.url);
    await sender.finishJob();
    const [late] = await claimDueDeliveries(deps, 1);
    sender.time += 30_000;
    await sender.deliverDue();
    const before = await attemptCounts();
    if (late !== undefined) await deliver(deps, late);
    expect(receiver.received).toHaveLength(2);
    expect(before.join()).toContain('outcome="delivered"');
    expect(await attemptCounts()).toEqual(before);
  });

  it('is sent again by the next process when a process stops during an attempt', async () => {
    const began = Promise.withResolvers<void>();
    let hangs = true;
    const receiver = await startReceiver({ respond: (response) => (hangs ? began.resolve() : status(204)(response)) });
    await sender.register(receiver.url);
    await sender.finishJob();
    const workers = startPollingWorkers(deps, {
      name: 'test',
      concurrency: 4,
      pollIntervalMs: 60_000,
      claim: (free) => claimDueDeliveries(deps, free),
      work: (item, signal) => deliver(deps, item, signal),
    });
    await began.promise;
    await workers.stop();
    hangs = false;
    sender.time += 30_000;
    await sender.deliverDue();
    expect(eventIds(receiver)[0]).toBe(eventIds(receiver)[1]);
    expect((await database.query('select delivered from webhook_deliveries')).rows).toEqual([{ delivered: true }]);
  });
});

describe('the age of the oldest due delivery', () => {
  it('does not include deliveries in flight', async () => {
    await sender.finishJob('https://127.0.0.1:1/');
    sender.time += 5000;
    expect(await sender.registry.metrics()).toContain('mediajobs_webhook_oldest_due_seconds 5');
    await claimDueDeliveries(deps, 1);
    expect(await sender.registry.metrics()).toContain('mediajobs_webhook_oldest_due_seconds 0');
    sender.time += 30_000;
    expect(await sender.registry.metrics()).toContain('mediajobs_webhook_oldest_due_seconds 35');
  });
});

describe('claims', () => {
  // Promise, Events: A slow receiver delays no other
  it('are limited to four per host, so that a slow host delays no other', async () => {
    const blocked: ServerResponse[] = [];
    const slow = await startReceiver({ host: '127.0.0.2', respond: (response) => void blocked.push(response) });
    const arrived = Promise.withResolvers<void>();
    const quick = await startReceiver({
      respond: (response) => {
        status(204)(response);
        arrived.resolve();
      },
    });
    for (let i = 0; i < 30; i += 1) await sender.finishJob(`${slow.url}/${i}`);
    sender.time += 1;
    await sender.finishJob(quick.url);
    const workers = startPollingWorkers(deps, {
      name: 'test',
      concurrency: 6,
      pollIntervalMs: 60_000,
      claim: (free) => claimDueDeliveries(deps, free),
      work: (item, signal) => deliver(deps, item, signal),
    });
    await arrived.promise;
    expect(blocked.length).toBeLessThanOrEqual(4);
    expect(await claimDueDeliveries(deps, 100)).toEqual([]);
    await workers.stop();
  });

  it('are limited to 40 per account, so that an account with many silent receivers delays no other', async () => {
    for (let i = 0; i < 60; i += 1) await sender.finishJob(`https://silent-${i}.example/`);
    expect(await claimDueDeliveries(deps, 100)).toHaveLength(40);
    expect(await claimDueDeliveries(deps, 100)).toEqual([]);
  });

  it('count a host with and without a trailing dot as one, and leave the URL as written', async () => {
    for (let i = 0; i < 4; i += 1) {
      await sender.finishJob('https://hooks.example/');
      await sender.finishJob('https://hooks.example./');
      await sender.finishJob('https://localhost:8443/');
      await sender.finishJob('https://localhost.:8443/');
    }
    const claimed = await claimDueDeliveries(deps, 100);
    const urls = claimed.map((one) => openUrl(deps.secretBox, one, urlContext.delivery(one.eventId)));
    expect(urls.map((url) => new URL(url).hostname.split('.')[0]).toSorted()).toEqual([
      ...Array<string>(4).fill('hooks'),
      ...Array<string>(4).fill('localhost'),
    ]);
  });

  it('begin with the longest due delivery and never overlap between processes', async () => {
    for (let i = 0; i < 40; i += 1) {
      sender.time += 1;
      await sender.finishJob(`https://127.0.0.${i + 1}/`);
    }
    const claims = await Promise.all(Array.from({ length: 5 }, () => claimDueDeliveries(deps, 4)));
    const urls = claims.flat().map((claimed) => openUrl(deps.secretBox, claimed, urlContext.delivery(claimed.eventId)));
    expect(new Set(urls)).toEqual(new Set(Array.from({ length: 20 }, (_, i) => `https://127.0.0.${i + 1}/`)));
    expect(urls).toHaveLength(20);
  });
});
