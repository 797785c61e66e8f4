import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { noise } from '#test/fixtures/noise.ts';
import type { ApiClient } from '#test/support/api-client.ts';
import { expectRefusal } from '#test/support/expect-refusal.ts';
import { startReceiver, type Received, type Receiver } from '#test/support/receiver.ts';
import { runJob } from '#test/support/run-through.ts';
import { useService } from '#test/support/use-service.ts';
import { withKey } from '#test/support/with-key.ts';

const { service, api, makeAccount } = await useService();

const picture = await noise(64, 64).jpeg({ quality: 95 }).toBuffer();
const compress = { operation: 'compress', options: { image: { format: 'webp', quality: 30 } } };
const PATH = '/v1/webhook_endpoints';

interface Registered {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
}

/** Creates an account for one test. */
async function newCaller(): Promise<{ live: ApiClient; test: ApiClient }> {
  const made = await makeAccount();
  return { live: withKey(api, made.live), test: withKey(api, made.test) };
}

async function register(caller: ApiClient, url: string): Promise<Registered> {
  const response = await caller('POST', PATH, { json: { url } });
  expect(response.status).toBe(201);
  return response.json() as Registered;
}

const finishJob = (caller: ApiClient, more: object = {}) =>
  runJob(caller, { bytes: picture, filename: 'a.jpg' }, { ...compress, ...more });
const eventOf = ({ body }: Received) => JSON.parse(body.toString()) as Record<string, any>;
const jobsOf = ({ received }: Receiver): unknown[] => received.map((request) => eventOf(request)['data'].job.id);

async function arrived(receiver: Receiver, count: number): Promise<void> {
  await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBe(count);
}

function isSigned({ headers, body }: Received, secret: string): boolean {
  const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['svc-signature'])) ?? [];
  return v1 === createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex');
}

describe('registering', () => {
  // Promise, Conventions and objects: Webhook endpoint object; the secret is shown once
  it('returns 201 with the secret, which no later response contains', async () => {
    const { live, test } = await newCaller();
    const response = await live('POST', PATH, { json: { url: 'https://example.com/hook?a=1' } });
    expect(response.status).toBe(201);
    expect(response.headers['cache-control']).toBe('no-store');
    const { secret, ...shown } = response.json();
    expect(secret).toMatch(/^whsec_[0-9A-Za-z]{32}$/);
    expect(shown).toEqual({
      id: expect.stringMatching(/^whk_[0-9a-z]{20}$/),
      object: 'webhook_endpoint',
      url: 'https://example.com/hook?a=1',
      enabled: true,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect((await live('GET', PATH)).json()).toEqual({ object: 'list', data: [shown], has_more: false });
    expect((await test('GET', PATH)).json()['data']).toEqual([shown]);
    const rows = await service.query('select secret from webhook_endpoints where id = $1', [shown['id']]);
    expect(rows.map((row) => (row['secret'] as Buffer).includes(String(secret)))).toEqual([false]);
  });

  // Promise, Conventions and objects: Lists have `object`, `data`, `has_more`
  it('accepts the same URL repeatedly and lists the newest first', async () => {
    const { live } = await newCaller();
    const [first, second, third] = [
      await register(live, 'https://example.com/'),
      await register(live, 'https://example.com/'),
      await register(live, 'https://例え.jp/x'),
    ];
    expect(first.secret).not.toBe(second.secret);
    const { data } = (await live('GET', PATH)).json() as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toEqual([third.id, second.id, first.id]);
    expect(third).toMatchObject({ url: 'https://xn--r8jz45g.jp/x' });
    expect(data[0]).toMatchObject({ url: 'https://xn--r8jz45g.jp/x' });
  });

  it.each([
    [{}, 'url'],
    [{ url: null }, 'url'],
    [{ url: 5 }, 'url'],
    [{ url: '' }, 'url'],
    [{ url: 'example.com' }, 'url'],
    [{ url: 'http://example.com/' }, 'url'],
    [{ url: 'https://example.com:8443/' }, 'url'],
    [{ url: 'https://user@example.com/' }, 'url'],
    [{ url: 'https://:pass@example.com/' }, 'url'],
    [{ url: 'https://10.0.0.1/' }, 'url'],
    [{ url: 'https://2130706434.example' + 'x'.repeat(2100) }, 'url'],
    [{ url: 'https://169.254.169.254/' }, 'url'],
    [{ url: 'https://[fd00::1]/' }, 'url'],
    [{ url: 'https://foo.local/' }, 'url'],
    [{ url: 'https://intranet/' }, 'url'],
    [{ url: 'https://exam\nple.com/' }, 'url'],
    [{ url: 'https://example.com/', enabled: true }, 'enabled'],
  ])('refuses %j', async (json, param) => {
    expectRefusal(await api('POST', PATH, { json }), 'bad_request', { param });
  });

  it.each([['[]'], ['null'], ['{']])('refuses the body %s', async (body) => {
    expectRefusal(await api('POST', PATH, { body }), 'bad_request');
  });

  // Promise, Bad input, case by case: Limits in parallel
  // Promise, Limits and versions: 10 webhook endpoints, also in parallel
  it('refuses the eleventh, also among parallel requests, until one is deleted', async () => {
    const { live } = await newCaller();
    const create = () => live('POST', PATH, { json: { url: 'https://example.com/' } });
    for (let n = 0; n < 9; n += 1) expect((await create()).status).toBe(201);
    const answers = await Promise.all(Array.from({ length: 20 }, create));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const refused = answers.find(({ status }) => status !== 201);
    if (refused !== undefined) expectRefusal(refused, 'bad_request');
    const { data } = (await live('GET', PATH)).json() as { data: { id: string }[] };
    expect(data).toHaveLength(10);
    await live('DELETE', `${PATH}/${data[0]?.id}`);
    expect((await create()).status).toBe(201);
  });
});

describe('an endpoint', () => {
  // Promise, States: Pause, resume, delete and rotate, and what is queued already
  it('is paused and resumed; its URL cannot be changed', async () => {
    const { live, test } = await newCaller();
    const { secret: _secret, ...endpoint } = await register(live, 'https://example.com/');
    const patch = (json: unknown) => live('PATCH', `${PATH}/${endpoint.id}`, { json });
    const paused = await patch({ enabled: false });
    expect([paused.status, paused.json()]).toEqual([200, { ...endpoint, enabled: false }]);
    expect((await live('GET', PATH)).json()['data']).toEqual([{ ...endpoint, enabled: false }]);
    expectRefusal(await patch({ url: 'https://example.org/' }), 'bad_request');
    expectRefusal(await patch({ enabled: true, url: 'https://example.org/' }), 'bad_request', { param: 'url' });
    for (const enabled of ['true', 1, null, undefined])
      expectRefusal(await patch({ enabled }), 'bad_request', { param: 'enabled' });
    expect((await test('PATCH', `${PATH}/${endpoint.id}`, { json: { enabled: true } })).json()).toEqual(endpoint);
  });

  // Promise, Conventions and objects: Webhook endpoint object; the secret is shown once
  it('receives a new secret, shown once', async () => {
    const { live } = await newCaller();
    const { secret, ...endpoint } = await register(live, 'https://example.com/');
    const response = await live('POST', `${PATH}/${endpoint.id}/rotate_secret`);
    expect(response.status).toBe(200);
    expect(response.json()).toEqual({ ...endpoint, secret: expect.stringMatching(/^whsec_[0-9A-Za-z]{32}$/) });
    expect(response.json()['secret']).not.toBe(secret);
    expect((await live('GET', PATH)).json()['data']).toEqual([endpoint]);
  });

  it('is not found once deleted', async () => {
    const { live } = await newCaller();
    const { id } = await register(live, 'https://example.com/');
    const response = await live('DELETE', `${PATH}/${id}`);
    expect([response.status, response.json()]).toEqual([200, { id, object: 'webhook_endpoint', deleted: true }]);
    expect((await live('GET', PATH)).json()['data']).toEqual([]);
    await expectUnknown(live, id);
  });

  it.each(['whk_00000000000000000000', 'nope', '%01'])('%s is unknown', async (id) => {
    await expectUnknown(api, id);
  });

  it('of another account is unknown', async () => {
    const { live } = await newCaller();
    const { id } = await register(live, 'https://example.com/');
    await expectUnknown(api, id);
  });
});

async function expectUnknown(caller: ApiClient, id: string): Promise<void> {
  expectRefusal(await caller('PATCH', `${PATH}/${id}`, { json: { enabled: true } }), 'not_found');
  expectRefusal(await caller('POST', `${PATH}/${id}/rotate_secret`), 'not_found');
  expectRefusal(await caller('POST', `${PATH}/${id}/test`), 'not_found');
  expectRefusal(await caller('DELETE', `${PATH}/${id}`), 'not_found');
}

describe('a finished job', () => {
  // Promise, Events: One event per destination, with its own id and secret; a registered URL receives one
  it('sends one event to each enabled endpoint and to webhook_url, each with its own id and secret', async () => {
    const { live, test } = await newCaller();
    const [one, two, own] = [await startReceiver(), await startReceiver(), await startReceiver()];
    const [first, second] = [await register(live, one.url), await register(live, two.url)];
    const done = await finishJob(live, { webhook_url: own.url });
    for (const receiver of [one, two, own]) await arrived(receiver, 1);
    const [toFirst, toSecond, toOwn] = [one, two, own].map(({ received }) => received[0] as Received) as [
      Received,
      Received,
      Received,
    ];
    const { secret } = (await live('GET', `${PATH}/signing_secret`)).json();
    expect([isSigned(toFirst, first.secret), isSigned(toSecond, second.secret), isSigned(toOwn, secret)]).toEqual([
      true,
      true,
      true,
    ]);
    expect(new Set([toFirst, toSecond, toOwn].map((request) => eventOf(request)['id'])).size).toBe(3);
    for (const request of [toFirst, toSecond, toOwn]) expect(eventOf(request)['data'].job).toEqual(done);
    const sample = await readFile(new URL('../../api/data/samples/people.csv', import.meta.url));
    await runJob(
      test,
      { bytes: sample, filename: 'people.csv' },
      { operation: 'convert', options: { convert: { to: 'json' } } },
    );
    for (const receiver of [one, two]) await arrived(receiver, 2);
    expect(eventOf(one.received[1] as Received)).toMatchObject({ type: 'job.succeeded', livemode: false });
  });

  // Promise, Settled where the interface leaves it open: A `webhook_url` that is a paused endpoint receives nothing
  // Promise, Events: One event per destination, with its own id and secret; a registered URL receives one
  it('whose webhook_url is an enabled endpoint sends one event, as that endpoint; a paused one receives none', async () => {
    const { live } = await newCaller();
    const [receiver, other] = [await startReceiver(), await startReceiver()];
    const endpoint = await register(live, `${receiver.url}/hook`);
    await register(live, other.url);
    const first = await finishJob(live, { webhook_url: `${receiver.url}/hook` });
    await arrived(receiver, 1);
    expect(isSigned(receiver.received[0] as Received, endpoint.secret)).toBe(true);
    await live('PATCH', `${PATH}/${endpoint.id}`, { json: { enabled: false } });
    const second = await finishJob(live, { webhook_url: `${receiver.url}/hook` });
    await arrived(other, 2);
    expect(jobsOf(other)).toEqual([first['id'], second['id']]);
    const rows = await service.query(
      'select endpoint_id from webhook_deliveries where job_id = $1 and shown_url like $2',
      [second['id'], `${receiver.url}/%`],
    );
    expect([rows, receiver.received.length]).toEqual([[], 1]);
  });

  // Promise, States: Pause, resume, delete and rotate, and what is queued already
  it('sends no event, now or later, to an endpoint that is paused or deleted', async () => {
    const { live } = await newCaller();
    const [pausing, deleting, witness] = [await startReceiver(), await startReceiver(), await startReceiver()];
    const [paused, deleted] = [await register(live, pausing.url), await register(live, deleting.url)];
    await register(live, witness.url);
    await live('PATCH', `${PATH}/${paused.id}`, { json: { enabled: false } });
    await live('DELETE', `${PATH}/${deleted.id}`);
    const missed = await finishJob(live);
    await live('PATCH', `${PATH}/${paused.id}`, { json: { enabled: true } });
    const next = await finishJob(live);
    await arrived(witness, 2);
    await arrived(pausing, 1);
    expect([jobsOf(pausing), jobsOf(deleting)]).toEqual([[next['id']], []]);
    expect(jobsOf(witness)).toEqual([missed['id'], next['id']]);
  });

  // Promise, Bad input, case by case: Rotation during retries
  // Promise, States: Pause, resume, delete and rotate, and what is queued already
  it('keeps its queued delivery and secret when the endpoint is paused, deleted or its secret rotated', async () => {
    const { live } = await newCaller();
    const failing = () => {
      let answers = 0;
      return startReceiver({ respond: (response) => response.writeHead((answers += 1) === 1 ? 500 : 200).end() });
    };
    const receivers = [await failing(), await failing(), await failing()] as const;
    const [rotated, paused, deleted] = [
      await register(live, receivers[0].url),
      await register(live, receivers[1].url),
      await register(live, receivers[2].url),
    ];
    const job = await finishJob(live);
    for (const receiver of receivers) await arrived(receiver, 1);
    const sealed = () =>
      service.query('select secret from webhook_deliveries where job_id = $1 and endpoint_id = $2', [
        job['id'],
        rotated.id,
      ]);
    const before = await sealed();
    const { secret } = (await live('POST', `${PATH}/${rotated.id}/rotate_secret`)).json() as { secret: string };
    expect(await sealed()).toEqual(before);
    await live('PATCH', `${PATH}/${paused.id}`, { json: { enabled: false } });
    await live('DELETE', `${PATH}/${deleted.id}`);
    for (const receiver of receivers) await arrived(receiver, 2);
    const again = receivers.map(({ received }) => received[1] as Received) as [Received, Received, Received];
    expect([
      isSigned(again[0], rotated.secret),
      isSigned(again[1], paused.secret),
      isSigned(again[2], deleted.secret),
    ]).toEqual([true, true, true]);
    await finishJob(live);
    await arrived(receivers[0], 3);
    const latest = receivers[0].received[2] as Received;
    expect([isSigned(latest, secret), isSigned(latest, rotated.secret)]).toEqual([true, false]);
    expect(receivers.map(({ received }) => received.length)).toEqual([3, 2, 2]);
  });

  it('can be sent again by the operator, with the same id and body', async () => {
    const { live } = await newCaller();
    const receiver = await startReceiver();
    await register(live, `${receiver.url}/?token=canary`);
    const job = await finishJob(live);
    await arrived(receiver, 1);
    const [first] = receiver.received as [Received];
    const { account_id: account } =
      (await service.query('select account_id from jobs where id = $1', [job['id']]))[0] ?? {};
    const listed = async () =>
      (await service.mediactl('webhook', 'deliveries', '--account', String(account)))['data'] as Record<
        string,
        unknown
      >[];
    const event = eventOf(first)['id'] as string;
    await expect.poll(listed).toEqual([
      expect.objectContaining({
        event,
        state: 'delivered',
        job: job['id'],
        attempts: 1,
        last_status: 204,
        url: `${receiver.url}/…`,
      }),
    ]);
    expect(await service.mediactl('webhook', 'resend', event)).toMatchObject({ event, state: 'queued', attempts: 0 });
    await arrived(receiver, 2);
    const second = receiver.received[1] as Received;
    expect([second.headers['svc-event-id'], second.body.equals(first.body)]).toEqual([event, true]);
  });
});

describe('a test', () => {
  // Promise, Events: Ping: once, signed, with the key's mode, also while paused
  it.each(['live', 'test'] as const)('sends one signed ping with the mode of a %s key', async (mode) => {
    const caller = await newCaller();
    const receiver = await startReceiver();
    const endpoint = await register(caller.live, `${receiver.url}/hook`);
    const response = await caller[mode]('POST', `${PATH}/${endpoint.id}/test`);
    expect(response.status).toBe(200);
    expect(receiver.received).toHaveLength(1);
    const [ping] = receiver.received as [Received];
    const event = eventOf(ping);
    expect(event).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-z]{20}$/),
      type: 'ping',
      created_at: expect.any(String),
      livemode: mode === 'live',
      data: {},
    });
    expect(response.json()).toEqual({
      object: 'webhook_test',
      event_id: event['id'],
      delivered: true,
      status: 204,
      duration_ms: expect.any(Number),
    });
    expect(ping).toMatchObject({
      method: 'POST',
      path: '/hook',
      headers: { 'content-type': 'application/json', 'user-agent': 'Svc-Webhooks/1', 'svc-event-id': event['id'] },
    });
    expect(isSigned(ping, endpoint.secret)).toBe(true);
  });

  // Promise, Bad input, case by case: Tests of endpoints
  // Promise, Events: Ping: once, signed, with the key's mode, also while paused
  it.each([500, 301, 410])(
    'says what came of it when the receiver answers %i, and is never sent again',
    async (status) => {
      const { live } = await newCaller();
      const elsewhere = await startReceiver();
      const receiver = await startReceiver({
        respond: (response) => response.writeHead(status, { location: elsewhere.url }).end(),
      });
      const { id } = await register(live, receiver.url);
      const reply = await live('POST', `${PATH}/${id}/test`);
      expect(reply.json()).toMatchObject({ delivered: false, status });
      expect([reply.status, receiver.received.length, elsewhere.received.length]).toEqual([200, 1, 0]);
      const queued = await service.query('select id from webhook_deliveries where id = $1', [reply.json()['event_id']]);
      expect(queued).toEqual([]);
    },
  );

  it('has status 0 when no server responds', async () => {
    const { live } = await newCaller();
    const { id } = await register(live, 'https://127.0.0.1:1/');
    expect((await live('POST', `${PATH}/${id}/test`)).json()).toMatchObject({ delivered: false, status: 0 });
  });

  // Promise, Bad input, case by case: Tests of endpoints
  it('has status 0 when the response takes too long', async () => {
    const { live } = await newCaller();
    const receiver = await startReceiver({ respond: () => {} });
    const { id } = await register(live, receiver.url);
    expect((await live('POST', `${PATH}/${id}/test`)).json()).toMatchObject({ delivered: false, status: 0 });
    expect(receiver.received).toHaveLength(1);
  });

  // Promise, Events: Ping: once, signed, with the key's mode, also while paused
  it('works on a paused endpoint, which stays paused, and on one with a new secret', async () => {
    const { live } = await newCaller();
    const receiver = await startReceiver();
    const { id } = await register(live, receiver.url);
    await live('PATCH', `${PATH}/${id}`, { json: { enabled: false } });
    const { secret } = (await live('POST', `${PATH}/${id}/rotate_secret`)).json() as { secret: string };
    expect((await live('POST', `${PATH}/${id}/test`)).json()).toMatchObject({ delivered: true, status: 204 });
    expect(isSigned(receiver.received[0] as Received, secret)).toBe(true);
    expect((await live('GET', PATH)).json()['data']).toMatchObject([{ id, enabled: false }]);
  });

  // Promise, Bad input, case by case: Tests of endpoints
  it('is refused when the URL no longer meets the rules', async () => {
    const { live } = await newCaller();
    const { id } = await register(live, 'https://example.com/');
    await service.query(`update webhook_endpoints set url = 'https://10.0.0.1/', sealed_url = null where id = $1`, [
      id,
    ]);
    expectRefusal(await live('POST', `${PATH}/${id}/test`), 'bad_request', { param: 'url' });
  });

  it('may run concurrently, up to 20 of an account', async () => {
    const { live } = await newCaller();
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const receiver = await startReceiver({
      respond: (response) => void released.then(() => response.writeHead(200).end()),
    });
    const { id } = await register(live, receiver.url);
    const sent = Array.from({ length: 21 }, () => live('POST', `${PATH}/${id}/test`));
    await arrived(receiver, 20);
    expectRefusal(await Promise.race(sent), 'rate_limited');
    release();
    const answers = await Promise.all(sent);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
  });
});
