import { describe, expect, it } from 'vitest';
import { makeSecretBox } from '#api/store/secret-box.ts';
import { claimDueDeliveries, deliver } from '#api/webhooks/deliver.ts';
import { selectDeliveries } from '#api/webhooks/delivery-record-rows.ts';
import { queueJobEvent } from '#api/webhooks/queue-job-event.ts';
import { signingSecret } from '#api/webhooks/signing-secret.ts';
import {
  deleteWebhookEndpointRow,
  replaceWebhookSecret,
  setWebhookEndpointEnabled,
} from '#api/webhooks/webhook-endpoint-rows.ts';
import { newWebhookSecret, secretContext } from '#api/webhooks/webhook-secret.ts';
import { newId } from '#crds/contract/ids.ts';
import { startReceiver, type Received } from '#test/support/receiver.ts';
import { eventIds, eventOf, expectSigned, START, status, webhookSender } from '#test/support/webhook-sender.ts';

const sender = await webhookSender();
const { database, deps } = sender;
const { secretBox } = deps;

const failedEvent = () =>
  ({
    accountId: sender.accountId,
    jobId: newId('job'),
    livemode: true,
    type: 'job.failed',
    createdAt: deps.clock.now(),
    job: {},
    webhookUrl: null,
  }) as const;

describe('an event', () => {
  it('has the documented method, headers, body and signature', async () => {
    const receiver = await startReceiver();
    const { secret } = await sender.register(`${receiver.url}/hook`);
    const jobId = await sender.finishJob();
    await sender.deliverDue();
    expect(receiver.received).toHaveLength(1);
    const request = receiver.received[0] as Received;
    expect(request).toMatchObject({
      method: 'POST',
      path: '/hook',
      headers: { 'content-type': 'application/json', 'user-agent': 'Svc-Webhooks/1' },
    });
    const sent = eventOf(request);
    expect(sent).toEqual({
      id: request.headers['svc-event-id'],
      type: 'job.succeeded',
      created_at: '2026-01-01T00:00:00.000Z',
      livemode: true,
      data: { job: expect.objectContaining({ id: jobId }) },
    });
    expect(sent['id']).toMatch(/^evt_[0-9a-z]{20}$/);
    expectSigned(request, secret, START);
    expect(await sender.registry.metrics()).toContain('mediajobs_webhook_attempts_total{outcome="delivered"}');
  });

  it('goes to every enabled endpoint and to webhook_url, each with its own id and secret', async () => {
    const [one, two, url] = [await startReceiver(), await startReceiver(), await startReceiver()];
    const first = await sender.register(one.url);
    const second = await sender.register(two.url);
    await sender.finishJob(`${url.url}/job`);
    await sender.deliverDue();
    expectSigned(one.received[0] as Received, first.secret, START);
    expectSigned(two.received[0] as Received, second.secret, START);
    expectSigned(url.received[0] as Received, await signingSecret({ secretBox }, database, sender.accountId), START);
    expect(new Set([...eventIds(one), ...eventIds(two), ...eventIds(url)]).size).toBe(3);
  });

  it('goes once to a webhook_url that is a registered endpoint, as that endpoint', async () => {
    const receiver = await startReceiver();
    const { secret } = await sender.register(`${receiver.url}/a`);
    await sender.finishJob(`${receiver.url.replace('https', 'HTTPS')}/a`);
    await sender.deliverDue();
    expect(receiver.received).toHaveLength(1);
    expectSigned(receiver.received[0] as Received, secret, START);
  });

  it('goes to each endpoint that is registered with the same URL', async () => {
    const receiver = await startReceiver();
    await sender.register(receiver.url);
    await sender.register(receiver.url);
    await sender.finishJob(receiver.url);
    await sender.deliverDue();
    expect(new Set(eventIds(receiver)).size).toBe(2);
  });

  it('is not sent twice when the job is finished twice by mistake', async () => {
    const receiver = await startReceiver();
    await sender.register(receiver.url);
    const event = failedEvent();
    await queueJobEvent({ secretBox, newId }, database, event);
    await queueJobEvent({ secretBox, newId }, database, event);
    await sender.deliverDue();
    expect(receiver.received).toHaveLength(1);
  });

  it('is queued only if the transaction that finishes the job commits', async () => {
    const receiver = await startReceiver();
    await sender.register(receiver.url);
    const event = failedEvent();
    const ending = database.transaction(async (tx) => {
      await queueJobEvent({ secretBox, newId }, tx, event);
      throw new Error('rolled back');
    });
    await expect(ending).rejects.toThrow('rolled back');
    await sender.deliverDue();
    expect(receiver.received).toHaveLength(0);
  });

  it('is stored with an encrypted secret', async () => {
    const { secret } = await sender.register('https://127.0.0.1:1/');
    await sender.finishJob();
    const { rows } = await database.query<{ text: string }>(
      "select encode(secret, 'escape') as text from webhook_deliveries",
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.text).not.toContain(secret);
  });
});

describe('an event for a destination that cannot be decrypted', () => {
  const otherKey = makeSecretBox([{ id: 'b', key: Buffer.alloc(32, 2) }]);
  const queueWithoutKey = (event: object = {}): Promise<void> =>
    database.transaction((tx) => queueJobEvent({ secretBox: otherKey, newId }, tx, { ...failedEvent(), ...event }));
  const deliverWithoutKey = async (): Promise<void> => {
    const withoutKey = { ...deps, secretBox: otherKey };
    for (const delivery of await claimDueDeliveries(withoutKey, 100)) await deliver(withoutKey, delivery);
  };

  it('is stored as a delivery of the endpoint that fails, beside those that are sent', async () => {
    const [lost, kept] = [await startReceiver(), await startReceiver()];
    const { id } = await sender.register(`${lost.url}/hook`);
    // The signing secret of a new account is encrypted with the key that is left.
    await queueWithoutKey({ webhookUrl: kept.url });
    await deliverWithoutKey();
    expect([lost.received.length, kept.received.length]).toEqual([0, 1]);
    const failed = await selectDeliveries(database, { accountId: sender.accountId, endpointId: id, limit: 10 });
    expect(failed).toMatchObject([
      {
        state: 'retrying',
        shownUrl: `${lost.url}/ho…`,
        lastError: 'the stored URL or secret cannot be decrypted',
      },
    ]);
  });

  it('is dropped after eight attempts', async () => {
    const receiver = await startReceiver();
    await sender.register(receiver.url);
    await queueWithoutKey();
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      await deliverWithoutKey();
      sender.time += 24 * 3600 * 1000;
    }
    const [dropped] = await selectDeliveries(database, { accountId: sender.accountId, limit: 10 });
    expect(dropped).toMatchObject({ state: 'dropped', attempt: 8 });
    expect(receiver.connections()).toBe(0);
  });

  it('fails when only the signing secret of the account cannot be decrypted', async () => {
    const receiver = await startReceiver();
    await signingSecret({ secretBox }, database, sender.accountId);
    await queueWithoutKey({ webhookUrl: `${receiver.url}/hook` });
    await deliverWithoutKey();
    expect(receiver.connections()).toBe(0);
    const [failed] = await selectDeliveries(database, { accountId: sender.accountId, limit: 10 });
    expect(failed).toMatchObject({ state: 'retrying', endpointId: null, shownUrl: `${receiver.url}/ho…` });
  });

  it('is not stored when the endpoint is paused', async () => {
    const { id } = await sender.register('https://127.0.0.1:1/');
    await setWebhookEndpointEnabled(database, { accountId: sender.accountId, id, enabled: false });
    await queueWithoutKey();
    expect(await selectDeliveries(database, { accountId: sender.accountId, limit: 10 })).toEqual([]);
  });
});

describe('a changed endpoint', () => {
  it('receives no event of a job that finished while it was paused, neither as webhook_url nor later', async () => {
    const receiver = await startReceiver();
    const { id } = await sender.register(receiver.url);
    await setWebhookEndpointEnabled(database, { accountId: sender.accountId, id, enabled: false });
    await sender.finishJob(receiver.url);
    await setWebhookEndpointEnabled(database, { accountId: sender.accountId, id, enabled: true });
    await sender.deliverDue();
    expect(receiver.received).toHaveLength(0);
    await sender.finishJob();
    await sender.deliverDue();
    expect(receiver.received).toHaveLength(1);
  });

  it('receives queued events and retries with the old secret after pause, rotation and deletion', async () => {
    let answers = 500;
    const receiver = await startReceiver({ respond: (response) => status(answers)(response) });
    const { id, secret } = await sender.register(receiver.url);
    await sender.finishJob();
    await sender.deliverDue();
    await setWebhookEndpointEnabled(database, { accountId: sender.accountId, id, enabled: false });
    await replaceWebhookSecret(database, {
      accountId: sender.accountId,
      id,
      sealedSecret: secretBox.seal(newWebhookSecret(), secretContext.endpoint(id)),
    });
    await deleteWebhookEndpointRow(database, { accountId: sender.accountId, id, at: deps.clock.now() });
    answers = 204;
    sender.time += 10_000;
    await sender.deliverDue();
    expect(receiver.received).toHaveLength(2);
    expectSigned(receiver.received[1] as Received, secret, sender.time);
    await sender.finishJob();
    await sender.deliverDue();
    expect(receiver.received).toHaveLength(2);
  });

  it('receives events of later jobs with the new secret only after a rotation', async () => {
    const receiver = await startReceiver();
    const { id } = await sender.register(receiver.url);
    const rotated = newWebhookSecret();
    await replaceWebhookSecret(database, {
      accountId: sender.accountId,
      id,
      sealedSecret: secretBox.seal(rotated, secretContext.endpoint(id)),
    });
    await sender.finishJob();
    await sender.deliverDue();
    expectSigned(receiver.received[0] as Received, rotated, START);
  });
});
