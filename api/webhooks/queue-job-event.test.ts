import { describe, expect, it } from 'vitest';
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
