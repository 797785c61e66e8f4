import { createHmac } from 'node:crypto';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { noise } from '#test/fixtures/noise.ts';
import { startReceiver, type Received } from '#test/support/receiver.ts';
import { finished, runJob, upload } from '#test/support/run-through.ts';
import { useService } from '#test/support/use-service.ts';

const { api, live, service } = await useService();

const picture = await noise(64, 64).jpeg({ quality: 95 }).toBuffer();
const photo = { bytes: picture, filename: 'photo.jpg' };
const compress = { operation: 'compress', options: { image: { format: 'webp', quality: 30 } } };

const eventOf = ({ body }: Received) => JSON.parse(body.toString()) as Record<string, any>;

function expectSigned({ headers, body }: Received, secret: string): void {
  const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['svc-signature'])) ?? [];
  expect(v1).toBe(createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex'));
  expect(Math.abs(Date.now() / 1000 - Number(t))).toBeLessThan(300);
}

const signingSecret = async (): Promise<string> =>
  String((await api('GET', '/v1/webhook_endpoints/signing_secret')).json()['secret']);

describe('the signing secret', () => {
  // Promise, Events: The signing secret is one per account
  it('is one per account and does not change', async () => {
    const response = await api('GET', '/v1/webhook_endpoints/signing_secret');
    expect(response.json()).toEqual({
      object: 'webhook_signing_secret',
      secret: expect.stringMatching(/^whsec_[0-9A-Za-z]{32}$/),
    });
    expect(await signingSecret()).toBe(response.json()['secret']);
  });
});

describe("a job's webhook_url", () => {
  // Promise, Events: Envelope, headers and signature
  it('receives one signed event with the job as it finished', async () => {
    const receiver = await startReceiver();
    const done = await runJob(api, photo, { ...compress, webhook_url: `${receiver.url}/hook?a=1` });
    await expect.poll(() => receiver.received.length).toBe(1);
    const [received] = receiver.received as [Received];
    expect(received).toMatchObject({ method: 'POST', path: '/hook?a=1' });
    expect(received.headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'Svc-Webhooks/1' });
    expectSigned(received, await signingSecret());
    const event = eventOf(received);
    expect(event).toMatchObject({ type: 'job.succeeded', livemode: true, created_at: done['completed_at'] });
    expect(event['id']).toMatch(/^evt_[0-9a-z]{20}$/);
    expect(received.headers['svc-event-id']).toBe(event['id']);
    expect(event['data'].job).toEqual(done);
  });

  // Promise, Events: Envelope, headers and signature
  it('receives events of failures and cancellations', async () => {
    const receiver = await startReceiver();
    await runJob(api, { bytes: Buffer.from('nothing'), filename: 'x.bin' }, { ...compress, webhook_url: receiver.url });
    await expect.poll(() => receiver.received.map((received) => eventOf(received)['type'])).toEqual(['job.failed']);
    const id = await upload(api, picture, 'a.jpg');
    const created = await api('POST', '/v1/jobs', {
      json: { ...compress, input: { upload: id }, webhook_url: receiver.url },
    });
    await api('DELETE', `/v1/jobs/${created.json()['id']}`);
    await expect
      .poll(() => receiver.received.map((received) => eventOf(received)['type']))
      .toEqual(['job.failed', 'job.canceled']);
  });

  it('receives the same event again with a new signature after a failure', async () => {
    let answers = 0;
    const receiver = await startReceiver({
      respond: (response) => {
        answers += 1;
        response.writeHead(answers === 1 ? 500 : 200).end();
      },
    });
    await runJob(api, photo, { ...compress, webhook_url: receiver.url });
    await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBe(2);
    const [first, second] = receiver.received as [Received, Received];
    expect(second.body.equals(first.body)).toBe(true);
    expect(second.headers['svc-event-id']).toBe(first.headers['svc-event-id']);
    expect(second.headers['svc-signature']).not.toBe(first.headers['svc-signature']);
    expectSigned(second, await signingSecret());
  });
});

describe('input.url', () => {
  // Promise, What the service does: A job takes an upload or a URL; its result is a signed link or a PUT to the caller
  it('is fetched by a plain GET, and determines the file name', async () => {
    const source = await startReceiver({
      respond: (response) => response.writeHead(200, { 'content-length': picture.length }).end(picture),
    });
    const created = await api('POST', '/v1/jobs', {
      json: { ...compress, input: { url: `${source.url}/files/holiday.jpg?x=1` } },
    });
    expect(created.status).toBe(202);
    expect(created.json()['input']).toEqual({ filename: null, size: null });
    const done = await finished(api, created.json()['id']);
    expect(done).toMatchObject({ status: 'succeeded', input: { filename: 'holiday.jpg', size: picture.length } });
    expect(source.received.map(({ method, headers }) => [method, headers.authorization])).toEqual([['GET', undefined]]);
  });

  // Promise, Jobs: `input.url`: status 200, Content-Length, plan's size, three redirects, no private address
  it.each([
    ['a status that is not 200', 404, { 'content-length': '0' }],
    ['a redirect to a private address', 302, { location: 'https://10.0.0.1/secret', 'content-length': '0' }],
    ['no Content-Length', 200, { 'transfer-encoding': 'chunked' }],
    ['a size over the plan', 200, { 'content-length': String(6 * 1024 ** 3) }],
  ])('fails the job for %s', async (_name, status, headers) => {
    const source = await startReceiver({ respond: (response) => response.writeHead(status, headers).end() });
    const created = await api('POST', '/v1/jobs', { json: { ...compress, input: { url: source.url } } });
    const done = await finished(api, created.json()['id']);
    expect(done).toMatchObject({ status: 'failed', error: { code: 'input_fetch_failed' }, billed: false });
  });

  // Promise, Jobs: `input.url`: status 200, Content-Length, plan's size, three redirects, no private address
  it.each([
    ['http://10.0.0.1/a'],
    ['http://169.254.169.254/latest/meta-data'],
    ['http://[::1]/a'],
    ['http://0x0a000001/a'],
  ])('never reaches %s', async (url) => {
    const created = await api('POST', '/v1/jobs', { json: { ...compress, input: { url } } });
    expect(created.status).toBe(202);
    const done = await finished(api, created.json()['id']);
    expect(done).toMatchObject({ status: 'failed', error: { code: 'input_fetch_failed' } });
  });
});

describe('output.url', () => {
  // Promise, Jobs: `output.url`: PUT with the caller's headers; anything but 2xx fails the job
  // Promise, What the service does: A job takes an upload or a URL; its result is a signed link or a PUT to the caller
  it('receives the result with the headers of the caller; no download remains', async () => {
    const storage = await startReceiver();
    const output = { url: `${storage.url}/bucket/out.webp`, headers: { 'X-Token': 'canary-output-header' } };
    const done = await runJob(api, photo, { ...compress, output });
    expect(done).toMatchObject({ status: 'succeeded', billed: true, result: { download_url: null } });
    const [put] = storage.received as [Received];
    expect(put).toMatchObject({ method: 'PUT', path: '/bucket/out.webp' });
    expect(put.headers).toMatchObject({
      'x-token': 'canary-output-header',
      'content-length': String(done['result'].output_size),
    });
    expect((await sharp(put.body).metadata()).format).toBe('webp');
    expect((await api('GET', `/v1/jobs/${done['id']}/output`, { key: live })).status).toBe(404);
    const plain = await service.query(
      "select count(*)::int as n from jobs where jobs::text like '%canary-output-header%'",
    );
    expect(plain[0]?.['n']).toBe(0);
  });

  // Promise, Jobs: `output.url`: PUT with the caller's headers; anything but 2xx fails the job
  it('that redirects fails the job', async () => {
    const storage = await startReceiver({
      respond: (response) => response.writeHead(302, { location: '/elsewhere' }).end(),
    });
    const done = await runJob(api, photo, { ...compress, output: { url: storage.url } });
    expect(done).toMatchObject({
      status: 'failed',
      error: { code: 'output_upload_failed' },
      billed: false,
      files_deleted: true,
    });
  });
});
