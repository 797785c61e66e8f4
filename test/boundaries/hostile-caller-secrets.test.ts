/**
 * A secret in every URL that a caller sends: requests use it, and no log line, metric, plain text in the database, list
 * or operator page contains it.
 */
import { Registry } from 'prom-client';
import { afterAll, describe, expect, it } from 'vitest';
import { SESSION_COOKIE } from '#api/dashboard/cookies.ts';
import { finishJob } from '#api/jobs/finish-job.ts';
import { deliveries } from '#api/mediactl/webhook-commands.ts';
import { claimDueTransfers, runTransfer } from '#api/transfers/run-transfers.ts';
import { makeTransferMetrics } from '#api/transfers/transfer-metrics.ts';
import { startSession } from '#api/users/session.ts';
import { claimDueDeliveries, deliver } from '#api/webhooks/deliver.ts';
import { makeDeliveryMetrics } from '#api/webhooks/delivery-metrics.ts';
import { runPing, claimWaitingPings } from '#api/webhooks/run-pings.ts';
import { makeSafeFetch } from '#api/outbound/safe-fetch.ts';
import { makeApiClient } from '#test/support/api-client.ts';
import { makeDashboardClient, type DashboardClient } from '#test/support/dashboard-client.ts';
import { startInProcessApi } from '#test/support/in-process-api.ts';
import { addPerson } from '#test/support/people.ts';
import { startReceiver, trustReceivers } from '#test/support/receiver.ts';

const CANARY = 'xQ7canarySecretToken';
const TABLES = `select table_name as name from information_schema.tables where table_schema = 'public'`;

const service = await startInProcessApi({ privateTargets: ['127.0.0.0/8'] });
const { deps, database, registry, accountId, key, logged } = service;
const api = makeApiClient(service, key);
const clients: DashboardClient[] = [];
afterAll(async () => {
  await api.close();
  await Promise.all(clients.map((client) => client.close()));
});

/** Receiver that repeats the secret in its responses. */
const receiver = await startReceiver({
  respond: (response, { path }) => void response.writeHead(500, { location: path, 'x-echo': path }).end(path),
});
const secretUrl = (name: string): string => `${receiver.url}/${CANARY}/${name}?token=${CANARY}#${CANARY}`;
/** URL of a port without a listener. */
const deadUrl = `https://127.0.0.1:1/${CANARY}?token=${CANARY}`;

const courierRegistry = new Registry();
const safeFetch = makeSafeFetch({
  resolve: async () => [],
  privateTargets: ['127.0.0.0/8'],
  secureContext: trustReceivers(),
});
const courier = {
  ...deps,
  safeFetch,
  metrics: makeDeliveryMetrics(deps, courierRegistry),
};
const transfers = { ...deps, safeFetch, metrics: makeTransferMetrics(deps, courierRegistry) };

async function signedIn(isOperator: boolean): Promise<DashboardClient> {
  const user = await addPerson(deps, {
    email: isOperator ? 'operator@example.com' : 'owner@example.com',
    membership: isOperator ? null : { accountId, role: 'owner' },
    operator: isOperator,
  });
  const visitor = { address: '127.0.0.1', agent: 'test' };
  const token = await startSession(deps, { caller: visitor, input: { user, how: 'password' } });
  const client = makeDashboardClient(service);
  client.cookies.set(SESSION_COOKIE, token);
  clients.push(client);
  return client;
}

const endpoint = (await api('POST', '/v1/webhook_endpoints', { json: { url: secretUrl('endpoint') } })).json();
const job = (
  await api('POST', '/v1/jobs', {
    json: {
      operation: 'compress',
      input: { url: secretUrl('input.jpg') },
      output: { url: secretUrl('output'), headers: { Authorization: `Bearer ${CANARY}` } },
      webhook_url: deadUrl,
    },
  })
).json();
const endpointId = String(endpoint['id']);
const jobId = String(job['id']);

/** Runs the work of courier and recorder with these URLs: each attempt fails. */
async function work(): Promise<void> {
  const stopped = new AbortController().signal;
  for (const transfer of await claimDueTransfers(transfers, 10)) await runTransfer(transfers, transfer, stopped);
  const tested = api('POST', `/v1/webhook_endpoints/${endpointId}/test`);
  await expect
    .poll(async () => {
      const pings = await claimWaitingPings(courier, 10);
      await Promise.all(pings.map((ping) => runPing(courier, ping)));
      return pings.length;
    })
    .toBe(1);
  expect((await tested).json()).toMatchObject({ delivered: false, status: 500 });
  await finishJob(deps, jobId, { kind: 'canceled' });
  for (const delivery of await claimDueDeliveries(courier, 10)) await deliver(courier, delivery);
}

describe("a secret in a caller's URL", () => {
  it('reaches its server', async () => {
    await work();
    expect(receiver.received.map(({ path }) => path).toSorted()).toEqual(
      ['endpoint', 'endpoint', 'input.jpg'].map((name) => `/${CANARY}/${name}?token=${CANARY}`),
    );
    expect((await api('GET', '/v1/webhook_endpoints')).json()['data']).toMatchObject([{ url: secretUrl('endpoint') }]);
  });

  it('is in no stored or logged refusal', async () => {
    const broken = `{"input": {"url": "${secretUrl('a')}"}, "x": "${CANARY}" ${CANARY}}`;
    for (const body of [broken, JSON.stringify({ operation: 'compress', input: { url: `ftp://x/${CANARY}` } })]) {
      const response = await api('POST', '/v1/jobs', { body, headers: { 'idempotency-key': `k${body.length}` } });
      expect(response.status).toBe(400);
    }
    expect(logged()).not.toContain(CANARY);
  });

  it('is in no log line and no metric', async () => {
    expect(logged()).toContain('webhook sent');
    expect(logged()).toContain('ping sent');
    expect(logged()).not.toContain(CANARY);
    expect(await registry.metrics()).not.toContain(CANARY);
    expect(await courierRegistry.metrics()).toContain('mediajobs_webhook_attempts_total{outcome="failed"} 2');
    expect(await courierRegistry.metrics()).not.toContain(CANARY);
  });

  it('is in no column of the database, as text or as bytes', async () => {
    const { rows: tables } = await database.query<{ name: string }>(TABLES);
    const hex = Buffer.from(CANARY).toString('hex');
    const found: string[] = [];
    let rowsRead = 0;
    for (const { name } of tables) {
      const { rows } = await database.query<{ text: string }>(`select t::text as text from ${name} as t`);
      rowsRead += rows.length;
      if (rows.some(({ text }) => text.includes(CANARY) || text.includes(hex))) found.push(name);
    }
    expect(found).toEqual([]);
    expect(rowsRead).toBeGreaterThan(10);
  });

  it('is shown on the page of its endpoint to members only, and on no other page', async () => {
    const [owner, operator] = [await signedIn(false), await signedIn(true)];
    const { list } = (await deliveries({ ...deps, peppers: ['x'.repeat(32)], dashboardUrl: null }, {})) as unknown as {
      list: readonly { event: string; url: string }[];
    };
    expect(list.map(({ url }) => url).toSorted()).toEqual(['https://127.0.0.1:1/xQ7c…', `${receiver.url}/xQ7c…`]);
    const base = `/accounts/${accountId}`;
    const own = `${base}/webhooks/${endpointId}`;
    expect((await owner.get(own)).text).toContain(secretUrl('endpoint'));
    const pages = [
      `${base}/webhooks`,
      `${base}/jobs/${jobId}`,
      ...list.map(({ event }) => `${base}/deliveries/${event}`),
    ];
    for (const [person, paths] of [
      [owner, pages],
      [operator, [...pages, own, '/operator/deliveries', '/operator/failures', '/operator/activity']],
    ] as const) {
      for (const path of paths) {
        const { status, text } = await person.get(path);
        expect({ path, status, has: text.includes(CANARY) }).toEqual({ path, status: 200, has: false });
      }
    }
    expect((await operator.get(own)).text).toContain(`${receiver.url}/xQ7c…`);
  });
});
