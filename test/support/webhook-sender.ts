import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Registry } from 'prom-client';
import { beforeEach, expect } from 'vitest';
import { makeSecretBox } from '#api/store/secret-box.ts';
import { claimDueDeliveries, deliver, type DeliverDeps } from '#api/webhooks/deliver.ts';
import { makeDeliveryMetrics } from '#api/webhooks/delivery-metrics.ts';
import { queueJobEvent } from '#api/webhooks/queue-job-event.ts';
import { sealUrl, urlContext } from '#api/webhooks/stored-url.ts';
import { insertWebhookEndpoint } from '#api/webhooks/webhook-endpoint-rows.ts';
import { newWebhookSecret, secretContext } from '#api/webhooks/webhook-secret.ts';
import { newId } from '#crds/contract/ids.ts';
import { makeLog } from '#crds/process/log.ts';
import { makeSafeFetch } from '#api/outbound/safe-fetch.ts';
import { testDatabase, type TestDatabase } from '#test/support/database.ts';
import { trustReceivers, type Received, type Receiver } from '#test/support/receiver.ts';

/** Time at which every test begins. */
export const START = Date.UTC(2026, 0, 1);

export interface WebhookSender {
  /** Milliseconds; a test moves it. */
  time: number;
  /** A fresh one for each test. */
  accountId: string;
  readonly database: TestDatabase;
  readonly registry: Registry;
  readonly deps: DeliverDeps;
  /** Registers an endpoint of the account. */
  register(url: string): Promise<{ id: string; secret: string }>;
  /** Queues the events of a job that ends now. Returns the job's id. */
  finishJob(webhookUrl?: string | null): Promise<string>;
  /** Claims and sends everything that is due, as often as there is something. */
  deliverDue(): Promise<void>;
}

/** Returns a sender of webhooks with a real database, real receivers on loopback and a clock that a test moves. */
export async function webhookSender(): Promise<WebhookSender> {
  const database = await testDatabase();
  const registry = new Registry();
  const secretBox = makeSecretBox([{ id: 'a', key: Buffer.alloc(32, 1) }]);
  const clock = { now: () => new Date(sender.time) };
  const safeFetch = makeSafeFetch({
    resolve: async () => [],
    privateTargets: ['127.0.0.0/8'],
    secureContext: trustReceivers(),
  });
  const metrics = makeDeliveryMetrics({ database, clock }, registry);
  const deps: DeliverDeps = {
    database,
    secretBox,
    safeFetch,
    clock,
    metrics,
    log: makeLog('test', 'silent'),
    tracing: null,
  };
  const sender: WebhookSender = {
    time: START,
    accountId: '',
    database,
    registry,
    deps,
    register: async (url) => {
      const id = newId('webhookEndpoint');
      const secret = newWebhookSecret();
      const sealedSecret = secretBox.seal(secret, secretContext.endpoint(id));
      const stored = sealUrl(secretBox, url, urlContext.endpoint(id));
      const endpoint = { id, accountId: sender.accountId, url: stored, sealedSecret, createdAt: clock.now() };
      await database.transaction((tx) => insertWebhookEndpoint(tx, endpoint, 10));
      return { id, secret };
    },
    finishJob: async (webhookUrl = null) => {
      const id = newId('job');
      const job = { id, object: 'job', status: 'succeeded', completed_at: clock.now().toISOString() };
      const event = {
        accountId: sender.accountId,
        jobId: id,
        livemode: true,
        type: 'job.succeeded',
        createdAt: clock.now(),
        job,
        webhookUrl,
      } as const;
      await database.transaction((tx) => queueJobEvent({ secretBox, newId }, tx, event));
      return id;
    },
    deliverDue: async () => {
      for (;;) {
        const claimed = await claimDueDeliveries(deps, 100);
        if (claimed.length === 0) return;
        await Promise.all(claimed.map((delivery) => deliver(deps, delivery)));
      }
    },
  };
  beforeEach(async () => {
    sender.time = START;
    sender.accountId = newId('account');
    await database.query('truncate webhook_deliveries, webhook_endpoints cascade');
    await database.query('insert into accounts (id, name, created_at) values ($1, $1, $2)', [
      sender.accountId,
      new Date(0),
    ]);
  });
  return sender;
}

/** Returns a receiver's response with that status and no body. */
export function status(code: number): (response: ServerResponse) => void {
  return (response) => void response.writeHead(code, { location: 'https://127.0.0.1/' }).end();
}

export function eventOf({ body }: Received): Record<string, unknown> {
  return JSON.parse(body.toString()) as Record<string, unknown>;
}

export function eventIds({ received }: Receiver): unknown[] {
  return received.map((request) => eventOf(request)['id']);
}

/** Asserts the signature of docs/reference/webhooks.md#verify-the-signature. */
export function expectSigned({ headers, body }: Received, secret: string, atMs: number): void {
  const t = Math.floor(atMs / 1000);
  const v1 = createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex');
  expect(headers['svc-signature']).toBe(`t=${t},v1=${v1}`);
}
