import { createHash, createPublicKey, verify, type JsonWebKey } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { expectRefusal } from '#test/support/expect-refusal.ts';
import { runJob } from '#test/support/run-through.ts';
import type { ApiClient } from '#test/support/api-client.ts';
import { useService } from '#test/support/use-service.ts';

const { account, test, api, makeAccount } = await useService();

const CSV = Buffer.from('id,name\n0010,Ada\n0011,Grace\n');
const csvFile = { bytes: CSV, filename: 'private-name.csv' };
const toJson = { operation: 'convert', options: { convert: { to: 'json' } }, metadata: { order: 'secret-order' } };
const hashOf = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');
const sampleBytes = (name: string): Buffer => readFileSync(new URL(`../../api/data/samples/${name}`, import.meta.url));
const receiptOf = (id: unknown, key?: string) =>
  api('GET', `/v1/jobs/${String(id)}/receipt`, key === undefined ? {} : { key });

/** Returns the payload of the JWS, verified with the published JWK. */
async function verified(jws: string): Promise<Record<string, any>> {
  const { keys } = (await api('GET', '/v1/receipt_keys', { key: null })).json() as {
    keys: (JsonWebKey & { kid: string })[];
  };
  const [header = '', payload = '', signature = ''] = jws.split('.');
  const { alg, kid } = JSON.parse(Buffer.from(header, 'base64url').toString('utf8')) as { alg: string; kid: string };
  expect(alg).toBe('EdDSA');
  const jwk = keys.find((key) => key.kid === kid);
  if (jwk === undefined) throw new Error('the key of the receipt is not published');
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
  const isGenuine = (signed: string) =>
    verify(null, Buffer.from(signed), publicKey, Buffer.from(signature, 'base64url'));
  expect(isGenuine(`${header}.${payload}`)).toBe(true);
  expect(isGenuine(`${header}.${payload.slice(0, -1)}`)).toBe(false);
  return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Record<string, any>;
}

/** Starts a server that accepts connections and never responds, so that a fetch of an input does not end. */
async function silentServer(): Promise<{ url: string; close: () => Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  };
  return { url: `http://127.0.0.1:${port}/never.csv`, close };
}

describe('the receipt of a finished job', () => {
  // Promise, Jobs: Receipts: signed, the same every time, 409 until the end; public keys
  it('attests input, output and price with a published key', async () => {
    const job = await runJob(api, csvFile, toJson);
    const output = (await api('GET', `/v1/jobs/${job['id']}/output`)).bytes;
    const response = await receiptOf(job['id']);
    expect(response.status).toBe(200);
    const receipt = response.json();
    expect(receipt).toMatchObject({
      object: 'receipt',
      job_id: job['id'],
      livemode: true,
      algorithm: 'EdDSA',
      issued_at: job['completed_at'],
    });
    const payload = await verified(receipt['jws']);
    expect(payload).toStrictEqual(receipt['payload']);
    expect(payload).toMatchObject({
      version: 1,
      job_id: job['id'],
      livemode: true,
      operation: 'convert',
      status: 'succeeded',
      api_version: '2026-10-01',
      standard: 'v1',
      created_at: job['created_at'],
      started_at: job['started_at'],
      completed_at: job['completed_at'],
      input: { sha256: hashOf(CSV), size: CSV.length, format: 'csv' },
      output: { sha256: hashOf(output), size: output.length, format: 'json' },
      options: { convert: { to: 'json', page: 1, dpi: 144 }, image: { quality: 75 } },
      result: { kind: 'table', kept_original: false, width: null },
      error_code: null,
      billing: { billed: true, meter: 'files', quantity: 1, amount_usd: 0.001 },
      quality: null,
      deletion: { input_at: job['completed_at'], output_at: job['expires_at'] },
    });
    expect(payload['options_sha256']).toBe(hashOf(JSON.stringify(payload['options'])));
  });

  it('names the tools that processed the file, and their versions', async () => {
    const file = { bytes: sampleBytes('graphic.png'), filename: 'graphic.png' };
    const { id } = await runJob(api, file, { operation: 'compress' });
    const { engine, result } = await verified((await receiptOf(id)).json()['jws']);
    expect(engine.image).toBeNull();
    expect(engine.tools.sharp).toMatch(/^\d+\.\d+/);
    expect(result).toMatchObject({ kind: 'image', width: expect.any(Number), savings_percent: expect.any(Number) });
  });

  it('is the same every time, also after its files are deleted', async () => {
    const job = await runJob(api, csvFile, toJson);
    const first = (await receiptOf(job['id'])).json();
    expect((await api('DELETE', `/v1/jobs/${job['id']}`)).json()['files_deleted']).toBe(true);
    expect((await receiptOf(job['id'])).json()).toStrictEqual(first);
  });

  it('names no file, URL, metadata or account', async () => {
    const job = await runJob(api, csvFile, toJson);
    const text = JSON.stringify((await receiptOf(job['id'])).json());
    for (const word of ['private-name', 'secret-order', account, 'https://', 'signature='])
      expect(text).not.toContain(word);
  });

  it('of a failed job carries its error code, the input and no charge', async () => {
    const bytes = Buffer.from('not a picture at all');
    const job = await runJob(api, { bytes, filename: 'a.jpg' }, { operation: 'compress' });
    expect(job['status']).toBe('failed');
    const payload = await verified((await receiptOf(job['id'])).json()['jws']);
    expect(payload).toMatchObject({
      status: 'failed',
      error_code: job['error'].code,
      input: { sha256: hashOf(bytes), size: bytes.length, format: null },
      output: null,
      result: null,
      engine: null,
      billing: { billed: false, meter: 'unbilled', quantity: 0, amount_usd: 0 },
      deletion: { input_at: job['completed_at'], output_at: null },
    });
  });

  it('of a test job has the mode test and no charge', async () => {
    const asTest: ApiClient = Object.assign(
      (method: string, path: string, sending = {}) => api(method, path, { ...sending, key: test }),
      { close: api.close },
    );
    const sample = { bytes: sampleBytes('people.csv'), filename: 'people.csv' };
    const { id } = await runJob(asTest, sample, toJson);
    const payload = await verified((await receiptOf(id, test)).json()['jws']);
    expect(payload).toMatchObject({
      livemode: false,
      status: 'succeeded',
      billing: { billed: false, meter: 'unbilled' },
    });
    expectRefusal(await receiptOf(id), 'not_found');
  });
});

describe('a missing receipt', () => {
  // Promise, Bad input, case by case: Receipt too early
  // Promise, Jobs: Receipts: signed, the same every time, 409 until the end; public keys
  it('is refused until the job has finished', async () => {
    const silent = await silentServer();
    const created = await api('POST', '/v1/jobs', { json: { operation: 'compress', input: { url: silent.url } } });
    const { id } = created.json() as { id: string };
    expectRefusal(await receiptOf(id), 'job_not_finished');
    await api('DELETE', `/v1/jobs/${id}`);
    await silent.close();
    const payload = await verified((await receiptOf(id)).json()['jws']);
    expect(payload).toMatchObject({ status: 'canceled', error_code: 'canceled', started_at: null, output: null });
  });

  it('is refused for unknown jobs and for other accounts', async () => {
    expectRefusal(await receiptOf('job_00000000000000000000'), 'not_found');
    const job = await runJob(api, csvFile, toJson);
    expectRefusal(await receiptOf(job['id'], (await makeAccount()).live), 'not_found');
    expectRefusal(await api('GET', `/v1/jobs/${job['id']}/receipt`, { key: null }), 'missing_key');
  });
});

describe('the receipt keys', () => {
  // Promise, Jobs: Receipts: signed, the same every time, 409 until the end; public keys
  it('are returned as a list and as a JWK set, without authentication', async () => {
    const response = await api('GET', '/v1/receipt_keys', { key: null });
    expect(response.headers['cache-control']).toBe('public, max-age=300');
    const { object, data, has_more, keys } = response.json();
    expect([object, has_more, data.length, keys.length]).toStrictEqual(['list', false, 1, 1]);
    expect(data[0]).toMatchObject({ object: 'receipt_key', algorithm: 'EdDSA', status: 'active', retired_at: null });
    expect(Date.parse(data[0].created_at)).toBeLessThanOrEqual(Date.now());
    const { crv, kty, x } = createPublicKey(data[0].public_key_pem).export({ format: 'jwk' });
    expect(keys[0]).toStrictEqual({ kty, crv, x, kid: data[0].id, use: 'sig', alg: 'EdDSA' });
    expect(data[0].id).toBe(createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url'));
    expectRefusal(await api('POST', '/v1/receipt_keys', { key: null }), 'bad_request', { status: 405 });
  });
});
