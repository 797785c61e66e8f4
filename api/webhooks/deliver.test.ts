import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeSecretBox } from '#api/store/secret-box.ts';
import { claimDueDeliveries, deliver, type DeliverDeps } from '#api/webhooks/deliver.ts';
import { makeDeliveryMetrics } from '#api/webhooks/delivery-metrics.ts';
import { queueJobEvent } from '#api/webhooks/queue-job-event.ts';
import { sendPing } from '#api/webhooks/send-ping.ts';
import { signingSecret } from '#api/webhooks/signing-secret.ts';
import {
  deleteWebhookEndpoint,
  insertWebhookEndpoint,
  replaceWebhookSecret,
  setWebhookEndpointEnabled,
} from '#api/webhooks/webhook-endpoint-rows.ts';
import { newWebhookSecret, secretContext } from '#api/webhooks/webhook-secret.ts';
import { newId } from '#crds/ids.ts';
import { makeLog } from '#crds/shared/log.ts';
import { makeSafeFetch } from '#crds/shared/safe-fetch.ts';
import { startWorkPlaces } from '#crds/shared/work-places.ts';
import { testDatabase } from '#test/support/database.ts';
import { startReceiver, trustReceivers, type Received, type Receiver } from '#test/support/receiver.ts';

const START = Date.UTC(2026, 0, 1);
let time = START;
const clock = { now: () => new Date(time) };
const log = makeLog('test', 'silent');
const database = await testDatabase();
const secretBox = makeSecretBox([{ id: 'a', key: Buffer.alloc(32, 1) }]);
const safeFetch = makeSafeFetch({ resolve: async () => [], privateTargets: ['127.0.0.0/8'], secureContext: trustReceivers() });
const registry = new Registry();
const deps: DeliverDeps = { database, secretBox, safeFetch, clock, log, metrics: makeDeliveryMetrics({ database, clock }, registry) };
let accountId = '';

beforeEach(async () => {
  time = START;
  await database.query('truncate webhook_deliveries, webhook_endpoints');
  accountId = newId('account');
  await database.query('insert into accounts (id, name, created_at) values ($1, $1, $2)', [accountId, new Date(0)]);
});

async function register(url: string): Promise<{ id: string; secret: string }> {
  const id = newId('webhookEndpoint');
  const secret = newWebhookSecret();
  const sealedSecret = secretBox.seal(secret, secretContext.endpoint(id));
  await database.transaction((tx) => insertWebhookEndpoint(tx, { id, accountId, url, sealedSecret, createdAt: clock.now() }, 10));
  return { id, secret };
}

async function finishJob(webhookUrl: string | null = null): Promise<string> {
  const jobId = newId('job');
  const job = { id: jobId, object: 'job', status: 'succeeded', completed_at: clock.now().toISOString() };
  await database.transaction((tx) =>
    queueJobEvent({ secretBox, newId }, tx, { accountId, jobId, livemode: true, type: 'job.succeeded', createdAt: clock.now(), job, webhookUrl }),
  );
  return jobId;
}

/** Claims and sends everything that is due, as often as there is something. */
async function deliverDue(): Promise<void> {
  for (;;) {
    const claimed = await claimDueDeliveries(deps, 100);
    if (claimed.length === 0) return;
    await Promise.all(claimed.map((delivery) => deliver(deps, delivery)));
  }
}

const status = (code: number) => (response: ServerResponse) => void response.writeHead(code, { location: 'https://127.0.0.1/' }).end();
const event = ({ body }: Received): Record<string, unknown> => JSON.parse(body.toString()) as Record<string, unknown>;
const ids = ({ received }: Receiver): unknown[] => received.map((request) => event(request)['id']);

function expectSigned({ headers, body }: Received, secret: string, atMs: number): void {
  const t = Math.floor(atMs / 1000);
  const v1 = createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex');
  expect(headers['svc-signature']).toBe(`t=${t},v1=${v1}`);
}

describe('an event', () => {
  it('arrives as the interface says', async () => {
    const receiver = await startReceiver();
    const { secret } = await register(`${receiver.url}/hook`);
    const jobId = await finishJob();
    await deliverDue();
    expect(receiver.received).toHaveLength(1);
    const request = receiver.received[0] as Received;
    expect(request).toMatchObject({ method: 'POST', path: '/hook', headers: { 'content-type': 'application/json', 'user-agent': 'Svc-Webhooks/1' } });
    const sent = event(request);
    expect(sent).toEqual({
      id: request.headers['svc-event-id'],
      type: 'job.succeeded',
      created_at: '2026-01-01T00:00:00.000Z',
      livemode: true,
      data: { job: expect.objectContaining({ id: jobId }) },
    });
    expect(sent['id']).toMatch(/^evt_[0-9a-z]{20}$/);
    expectSigned(request, secret, START);
    expect(await registry.metrics()).toContain('mediajobs_webhook_attempts_total{outcome="delivered"}');
  });

  it('goes to every enabled endpoint and to webhook_url, each with its own id and secret', async () => {
    const [one, two, url] = [await startReceiver(), await startReceiver(), await startReceiver()];
    const first = await register(one.url);
    const second = await register(two.url);
    await finishJob(`${url.url}/job`);
    await deliverDue();
    expectSigned(one.received[0] as Received, first.secret, START);
    expectSigned(two.received[0] as Received, second.secret, START);
    expectSigned(url.received[0] as Received, await signingSecret({ secretBox }, database, accountId), START);
    expect(new Set([...ids(one), ...ids(two), ...ids(url)]).size).toBe(3);
  });

  it('goes once to a webhook_url that is a registered endpoint, as that endpoint', async () => {
    const receiver = await startReceiver();
    const { secret } = await register(`${receiver.url}/a`);
    await finishJob(`${receiver.url.replace('https', 'HTTPS')}/a`);
    await deliverDue();
    expect(receiver.received).toHaveLength(1);
    expectSigned(receiver.received[0] as Received, secret, START);
  });

  it('goes to each endpoint that is registered with the same URL', async () => {
    const receiver = await startReceiver();
    await register(receiver.url);
    await register(receiver.url);
    await finishJob(receiver.url);
    await deliverDue();
    expect(new Set(ids(receiver)).size).toBe(2);
  });

  it('is not sent twice when the job is ended twice by mistake', async () => {
    const receiver = await startReceiver();
    await register(receiver.url);
    const event = { accountId, jobId: newId('job'), livemode: true, type: 'job.failed', createdAt: clock.now(), job: {}, webhookUrl: null } as const;
    await queueJobEvent({ secretBox, newId }, database, event);
    await queueJobEvent({ secretBox, newId }, database, event);
    await deliverDue();
    expect(receiver.received).toHaveLength(1);
  });

  it('is queued only if the transaction that ends the job commits', async () => {
    const receiver = await startReceiver();
    await register(receiver.url);
    const event = { accountId, jobId: newId('job'), livemode: true, type: 'job.failed', createdAt: clock.now(), job: {}, webhookUrl: null } as const;
    const ending = database.transaction(async (tx) => {
      await queueJobEvent({ secretBox, newId }, tx, event);
      throw new Error('rolled back');
    });
    await expect(ending).rejects.toThrow('rolled back');
    await deliverDue();
    expect(receiver.received).toHaveLength(0);
  });

  it('keeps secrets encrypted in the database', async () => {
    const { secret } = await register('https://127.0.0.1:1/');
    await finishJob();
    const { rows } = await database.query<{ text: string }>("select encode(secret, 'escape') as text from webhook_deliveries");
    expect(rows).toHaveLength(1);
    expect(rows[0]?.text).not.toContain(secret);
  });
});

describe('pausing, deleting, rotating', () => {
  it('jobs that finish while an endpoint is paused send nothing, not even to the same webhook_url, and not later', async () => {
    const receiver = await startReceiver();
    const { id } = await register(receiver.url);
    await setWebhookEndpointEnabled(database, { accountId, id, enabled: false });
    await finishJob(receiver.url);
    await setWebhookEndpointEnabled(database, { accountId, id, enabled: true });
    await deliverDue();
    expect(receiver.received).toHaveLength(0);
    await finishJob();
    await deliverDue();
    expect(receiver.received).toHaveLength(1);
  });

  it('what is queued still runs, with its retries and its secret, after pause, rotation and deletion', async () => {
    let answers = 500;
    const receiver = await startReceiver({ answer: (response) => status(answers)(response) });
    const { id, secret } = await register(receiver.url);
    await finishJob();
    await deliverDue();
    await setWebhookEndpointEnabled(database, { accountId, id, enabled: false });
    await replaceWebhookSecret(database, { accountId, id, sealedSecret: secretBox.seal(newWebhookSecret(), secretContext.endpoint(id)) });
    await deleteWebhookEndpoint(database, { accountId, id, at: clock.now() });
    answers = 204;
    time += 10_000;
    await deliverDue();
    expect(receiver.received).toHaveLength(2);
    expectSigned(receiver.received[1] as Received, secret, time);
    await finishJob();
    await deliverDue();
    expect(receiver.received).toHaveLength(2);
  });

  it('a job that finishes after a rotation is signed with the new secret only', async () => {
    const receiver = await startReceiver();
    const { id } = await register(receiver.url);
    const rotated = newWebhookSecret();
    await replaceWebhookSecret(database, { accountId, id, sealedSecret: secretBox.seal(rotated, secretContext.endpoint(id)) });
    await finishJob();
    await deliverDue();
    expectSigned(receiver.received[0] as Received, rotated, START);
  });
});

describe('attempts', () => {
  it('a dead receiver gets eight, at the exact times, the same bytes signed anew each time', async () => {
    const times: number[] = [];
    const receiver = await startReceiver({ answer: (response) => {
      times.push(time);
      status(503)(response);
    } });
    const { secret } = await register(receiver.url);
    await finishJob();
    await deliverDue();
    for (const seconds of [10, 60, 300, 1800, 7200, 21_600, 43_200]) {
      time += seconds * 1000 - 1;
      await deliverDue();
      time += 1;
      await deliverDue();
    }
    expect(times.map((at) => (at - START) / 1000)).toEqual([0, 10, 70, 370, 2170, 9370, 30_970, 74_170]);
    time += 7 * 24 * 3600 * 1000;
    await deliverDue();
    expect(receiver.received).toHaveLength(8);
    expect(new Set(receiver.received.map(({ body }) => body.toString('hex'))).size).toBe(1);
    receiver.received.forEach((request, index) => expectSigned(request, secret, times[index] ?? 0));
    const { rows } = await database.query('select attempt, delivered, last_status, done_at is not null as done from webhook_deliveries');
    expect(rows).toEqual([{ attempt: 8, delivered: false, last_status: 503, done: true }]);
  });

  it.each([200, 201, 204, 299])('%i ends the delivery', async (code) => {
    const receiver = await startReceiver({ answer: status(code) });
    await register(receiver.url);
    await finishJob();
    await deliverDue();
    time += 10_000;
    await deliverDue();
    expect(receiver.received).toHaveLength(1);
  });

  it.each([301, 302, 307, 400, 410, 500])('%i is a failure', async (code) => {
    const receiver = await startReceiver({ answer: status(code) });
    await register(receiver.url);
    await finishJob();
    await deliverDue();
    const { rows } = await database.query('select attempt, last_status, done_at, next_at from webhook_deliveries');
    expect(rows).toEqual([{ attempt: 1, last_status: code, done_at: null, next_at: new Date(START + 10_000) }]);
    expect(receiver.received).toHaveLength(1);
  });

  it('a body that never ends is not waited for', async () => {
    const receiver = await startReceiver({ answer: (response) => void response.writeHead(200).write('and then') });
    await register(receiver.url);
    await finishJob();
    await deliverDue();
    expect((await database.query('select delivered from webhook_deliveries')).rows).toEqual([{ delivered: true }]);
  });

  it('a receiver that resets the connection, and one whose certificate is not trusted, fail', async () => {
    const resetting = await startReceiver({ answer: (response) => void response.socket?.destroy() });
    await register(resetting.url);
    await finishJob();
    await deliverDue();
    const untrusting = { ...deps, safeFetch: makeSafeFetch({ resolve: async () => [], privateTargets: ['127.0.0.0/8'], secureContext: (await import('node:tls')).createSecureContext() }) };
    time += 10_000;
    for (const delivery of await claimDueDeliveries(untrusting, 1)) await deliver(untrusting, delivery);
    const { rows } = await database.query('select attempt, last_status, last_error from webhook_deliveries');
    expect(rows).toEqual([{ attempt: 2, last_status: null, last_error: "the host's certificate is not trusted" }]);
  });

  it('a webhook_url that came to lead to a private address fails', async () => {
    const receiver = await startReceiver();
    await finishJob(receiver.url);
    const strict = { ...deps, safeFetch: makeSafeFetch({ resolve: async () => ['127.0.0.1'], privateTargets: [], secureContext: trustReceivers() }) };
    for (const delivery of await claimDueDeliveries(strict, 1)) await deliver(strict, delivery);
    expect(receiver.connections()).toBe(0);
    expect((await database.query('select attempt, last_status from webhook_deliveries')).rows).toEqual([{ attempt: 1, last_status: null }]);
  });
});

describe('faults', () => {
  it('killed between sending and recording: the same event again when the lease is over, and the attempt counts', async () => {
    const receiver = await startReceiver();
    await register(receiver.url);
    await finishJob();
    const killed = { ...deps, database: { ...database, query: () => Promise.reject(new Error('killed')) } };
    for (const delivery of await claimDueDeliveries(deps, 10)) await expect(deliver(killed, delivery)).rejects.toThrow('killed');
    time += 29_999;
    await deliverDue();
    expect(receiver.received).toHaveLength(1);
    time += 1;
    await deliverDue();
    expect(receiver.received).toHaveLength(2);
    expect(new Set(ids(receiver)).size).toBe(1);
    expect((await database.query('select attempt, delivered from webhook_deliveries')).rows).toEqual([{ attempt: 2, delivered: true }]);
  });

  it('eight attempts that nobody reported are eight: the delivery is dropped', async () => {
    await register('https://127.0.0.1:1/');
    await finishJob();
    for (let i = 0; i < 8; i += 1) {
      expect(await claimDueDeliveries(deps, 10)).toHaveLength(1);
      time += 30_000;
    }
    expect(await claimDueDeliveries(deps, 10)).toHaveLength(0);
    expect((await database.query('select attempt, delivered from webhook_deliveries')).rows).toEqual([{ attempt: 8, delivered: false }]);
  });

  it('an attempt that ends after its lease decides nothing', async () => {
    const receiver = await startReceiver({ answer: status(500) });
    await register(receiver.url);
    await finishJob();
    const [late] = await claimDueDeliveries(deps, 1);
    time += 30_000;
    await claimDueDeliveries(deps, 1);
    if (late !== undefined) await deliver(deps, late);
    const { rows } = await database.query('select attempt, last_status, lease_until from webhook_deliveries');
    expect(rows).toEqual([{ attempt: 2, last_status: null, lease_until: new Date(START + 60_000) }]);
  });

  it('stopping leaves what is under way to the next process', async () => {
    const began = Promise.withResolvers<void>();
    let hangs = true;
    const receiver = await startReceiver({ answer: (response) => (hangs ? began.resolve() : status(204)(response)) });
    await register(receiver.url);
    await finishJob();
    const places = startWorkPlaces({ log }, { name: 'test', atOnce: 4, everyMs: 60_000, claim: (free) => claimDueDeliveries(deps, free), work: (item, signal) => deliver(deps, item, signal) });
    await began.promise;
    await places.stop();
    hangs = false;
    time += 30_000;
    await deliverDue();
    expect(ids(receiver)[0]).toBe(ids(receiver)[1]);
    expect((await database.query('select delivered from webhook_deliveries')).rows).toEqual([{ delivered: true }]);
  });
});

describe('places', () => {
  it('four at most are under way to one host, and a slow host delays no other', async () => {
    const blocked: ServerResponse[] = [];
    const slow = await startReceiver({ host: '127.0.0.2', answer: (response) => void blocked.push(response) });
    const arrived = Promise.withResolvers<void>();
    const quick = await startReceiver({ answer: (response) => {
      status(204)(response);
      arrived.resolve();
    } });
    for (let i = 0; i < 30; i += 1) await finishJob(`${slow.url}/${i}`);
    time += 1;
    await finishJob(quick.url);
    const places = startWorkPlaces({ log }, { name: 'test', atOnce: 6, everyMs: 60_000, claim: (free) => claimDueDeliveries(deps, free), work: (item, signal) => deliver(deps, item, signal) });
    await arrived.promise;
    expect(blocked.length).toBeLessThanOrEqual(4);
    expect(await claimDueDeliveries(deps, 100)).toEqual([]);
    await places.stop();
  });

  it('the longest due goes first, and two processes never take the same one', async () => {
    for (let i = 0; i < 40; i += 1) {
      time += 1;
      await finishJob(`https://127.0.0.${i + 1}/`);
    }
    const claims = await Promise.all(Array.from({ length: 5 }, () => claimDueDeliveries(deps, 4)));
    const urls = claims.flat().map(({ url }) => url);
    expect(new Set(urls)).toEqual(new Set(Array.from({ length: 20 }, (_, i) => `https://127.0.0.${i + 1}/`)));
    expect(urls).toHaveLength(20);
  });
});

describe('sendPing', () => {
  it.each([[204, true], [500, false]])('%i: delivered %s', async (code, delivered) => {
    const receiver = await startReceiver({ answer: status(code) });
    const secret = newWebhookSecret();
    const result = await sendPing({ safeFetch, clock, newId }, { url: receiver.url, secret, livemode: false });
    const request = receiver.received[0] as Received;
    expect(result).toEqual({ eventId: request.headers['svc-event-id'], delivered, status: code, durationMs: 0 });
    expect(event(request)).toEqual({ id: result.eventId, type: 'ping', created_at: '2026-01-01T00:00:00.000Z', livemode: false, data: {} });
    expectSigned(request, secret, START);
  });

  it('no answer is status 0', async () => {
    expect(await sendPing({ safeFetch, clock, newId }, { url: 'https://127.0.0.1:1/', secret: newWebhookSecret(), livemode: true })).toMatchObject({ delivered: false, status: 0 });
  });
});
