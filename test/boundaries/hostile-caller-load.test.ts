/**
 * Callers who occupy the service with slow bodies, with results that they do not read and with small files that take
 * long, while another account sends one file. No test measures time: the other account must be served while the attack continues.
 */
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import type { ClientRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { createAccount } from '#api/accounts/create-account.ts';
import { createKey } from '#api/accounts/create-key.ts';
import { MEDIACTL } from '#api/audit/audit.ts';
import { readConnection } from '#api/embedded/connection.ts';
import { openService } from '#api/mediactl/open-service.ts';
import { startOwnService } from '#test/crash/own-service.ts';
import { SLOW_PDFS } from '#test/hostile/slow-pdfs.ts';
import { makeApiClient, type ApiResponse, type ApiClient } from '#test/support/api-client.ts';
import { upload } from '#test/support/run-through.ts';

const MB = 1024 ** 2;
const photo = await readFile(new URL('../../api/data/samples/photo.jpg', import.meta.url));
const SLOW = { timeout: 180_000 };
const UNTIL = { timeout: 15_000, interval: 500 };
const UNTIL_JOBS_RUN = { timeout: 60_000, interval: 200 };

const service = await startOwnService({ MEDIAJOBS_ENGINE_CHILDREN: '2', MEDIAJOBS_RUNS_AT_ONCE: '2' });
const ca = readFileSync(readConnection(service.data)?.ca_file ?? '', 'utf8');
/** Attacks that the current test opened. */
let attacks: Attack[] = [];
const clients: ApiClient[] = [];

interface Attack {
  readonly request: ClientRequest;
  /** Returns the status of the response; null before the response. */
  readonly status: () => number | null;
}

afterEach(async () => {
  for (const { request } of attacks) request.destroy();
  attacks = [];
  await vi.waitFor(noFilesLeft, { timeout: 60_000 });
});
afterAll(() => Promise.all(clients.map((client) => client.close())));

/** Returns the private folders of direct requests in the engine. */
async function filesOfRequests(): Promise<string[]> {
  const folders = await readdir(path.join(service.data, 'work', 'engine'));
  const engines = folders.filter((name) => name.startsWith('mediajobs-work-'));
  // The folder of the engine processes remains.
  return engines.slice(1);
}

/** Asserts that no files of requests remain. @throws Error while the engine has any. */
async function noFilesLeft(): Promise<void> {
  const left = await filesOfRequests();
  if (left.length > 0) throw new Error(`files of ended requests are left: ${left.join(', ')}`);
}

/** Returns the live keys of `count` new accounts. */
async function makeKeys(count: number): Promise<string[]> {
  const inside = await openService({ data: service.data, env: {} });
  const keys: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const { id: accountId } = await createAccount(inside, {
      caller: MEDIACTL,
      input: {
        name: 'test',
        plan: 'growth',
        paymentMethod: true,
        features: [],
      },
    });
    keys.push(
      (await createKey(inside, { caller: MEDIACTL, input: { accountId, mode: 'live', name: 'test', allowList: [] } }))
        .keyText,
    );
  }
  await inside.database.close();
  return keys;
}

async function makeBystander(): Promise<ApiClient> {
  const [key = ''] = await makeKeys(1);
  const client = makeApiClient({ baseUrl: service.baseUrl(), ca }, key);
  clients.push(client);
  return client;
}

interface Body {
  /** By default a path that compresses. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Part of the body that is sent. */
  readonly sent: string | Buffer;
  /** False: the response is never read beyond its headers. */
  readonly reads?: boolean;
}

/** Sends the headers and the first part of a body. */
async function attack(
  key: string,
  { path: address = '/v1/compress?image.format=jpg', headers = {}, sent, reads = true }: Body,
): Promise<void> {
  const url = new URL(address, service.baseUrl());
  const request = httpsRequest(url, {
    method: 'POST',
    ca,
    agent: false,
    headers: { authorization: `Bearer ${key}`, ...headers },
  });
  let status: number | null = null;
  request.on('error', () => undefined);
  request.on('response', (response) => {
    status = response.statusCode ?? null;
    if (reads) response.resume();
  });
  attacks.push({ request, status: () => status });
  request.write(sent);
  await Promise.race([once(request, 'socket'), once(request, 'close')]);
}

function compress(api: ApiClient): Promise<ApiResponse> {
  return api('POST', '/v1/compress', { body: photo });
}

function openAttacks(): number {
  return attacks.filter(({ status }) => status() === null).length;
}

const BOUNDARY = 'x-boundary';
const BODIES: readonly (Body & { what: string })[] = [
  { what: 'stop after two bytes', headers: { 'content-length': '1000000' }, sent: photo.subarray(0, 2) },
  { what: 'declare 25 MB each and stop', headers: { 'content-length': String(25 * MB) }, sent: photo },
  {
    what: 'stop before their last byte',
    headers: { 'content-length': String(photo.length) },
    sent: photo.subarray(0, -1),
  },
  { what: 'are whole but for the last chunk', headers: { 'transfer-encoding': 'chunked' }, sent: photo },
  {
    what: 'are forms without the last boundary',
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, 'transfer-encoding': 'chunked' },
    sent: `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\n\r\n${'x'.repeat(5000)}`,
  },
];

describe('slow bodies', () => {
  it.each(BODIES)('of one account that $what do not block other accounts in the direct lane', SLOW, async (body) => {
    const bystander = await makeBystander();
    const [key = ''] = await makeKeys(1);
    await Promise.all(Array.from({ length: 45 }, () => attack(key, body)));
    const { status } = await compress(bystander);
    expect({ status, isAttacked: openAttacks() > 0 }).toEqual({ status: 200, isAttacked: true });
  });

  it('of forty accounts do not block another account in the direct lane', SLOW, async () => {
    const bystander = await makeBystander();
    const keys = await makeKeys(40);
    await Promise.all(keys.map((key) => attack(key, { headers: { 'content-length': '1000000' }, sent: 'x' })));
    await expect.poll(async () => (await compress(bystander)).status, UNTIL).toBe(200);
    expect(openAttacks()).toBeGreaterThan(0);
  });

  it('that are aborted leave no files, and their account is served at once', SLOW, async () => {
    const [key = ''] = await makeKeys(1);
    const own = makeApiClient({ baseUrl: service.baseUrl(), ca }, key);
    clients.push(own);
    for (let round = 0; round < 5; round += 1) {
      const body = { headers: { 'content-length': String(25 * MB) }, sent: 'x' };
      await Promise.all(Array.from({ length: 40 }, () => attack(key, body)));
      for (const { request } of attacks) request.destroy();
    }
    await expect.poll(async () => (await compress(own)).status, UNTIL).toBe(200);
  });

  it('that end late are answered, and the lane has free slots', SLOW, async () => {
    const [key = ''] = await makeKeys(1);
    const body = { headers: { 'content-length': String(photo.length) }, sent: photo.subarray(0, -1) };
    await attack(key, body);
    expect((await compress(await makeBystander())).status).toBe(200);
    for (const { request } of attacks) request.end(photo.subarray(-1));
    await expect.poll(() => attacks.map(({ status }) => status()), UNTIL).toEqual([200]);
  });
});

describe('small PDFs that take long', () => {
  it('in five direct requests of one account do not delay the file of another', SLOW, async () => {
    const bystander = await makeBystander();
    const [key = ''] = await makeKeys(1);
    for (let n = 0; n < 5; n += 1) {
      const file = slowPdf(n);
      await attack(key, { headers: { 'content-length': String(file.length) }, sent: file });
    }
    await expect.poll(async () => (await filesOfRequests()).length, UNTIL).toBeGreaterThan(1);
    const { status } = await compress(bystander);
    expect({ status, isAttacked: openAttacks() > 0 }).toEqual({ status: 200, isAttacked: true });
  });

  it('in jobs of one account do not delay the job of another', SLOW, async () => {
    const bystander = await makeBystander();
    const [key = ''] = await makeKeys(1);
    const attacker = makeApiClient({ baseUrl: service.baseUrl(), ca }, key);
    clients.push(attacker);
    const slow = await Promise.all([0, 1, 2].map((n) => createJob(attacker, slowPdf(n), 'a.pdf')));
    const statuses = (): Promise<string[]> => Promise.all(slow.map((one) => statusOf(attacker, one)));
    await expect
      .poll(async () => (await statuses()).toSorted(), UNTIL_JOBS_RUN)
      .toEqual(['processing', 'processing', 'queued']);
    const id = await createJob(bystander, photo, 'a.jpg');
    await expect.poll(() => statusOf(bystander, id), { timeout: 60_000, interval: 200 }).toBe('succeeded');
    expect((await statuses()).filter((status) => status === 'queued' || status === 'processing')).toHaveLength(3);
    for (const one of slow) await attacker('DELETE', `/v1/jobs/${one}`);
  });
});

describe('results that are not read', () => {
  it('of three accounts do not block another account in the direct lane', SLOW, async () => {
    const bystander = await makeBystander();
    const keys = await makeKeys(3);
    const headers = { 'content-length': String(photo.length) };
    // A bitmap of this photo has 7 MB, more than the buffers between the engine and the caller.
    const unread: Body = { path: '/v1/convert?to=bmp', headers, sent: photo, reads: false };
    const results = (): number => attacks.filter(({ status }) => status() === 200).length;
    // More than the engine has space for; after the other tests it may be overloaded and refuse some.
    while (results() < 140) {
      await Promise.all(keys.flatMap((key) => [1, 2, 3].map(() => attack(key, unread))));
      // Only the pace of the attack: some may wait for space longer than the others.
      await expect.poll(() => openAttacks(), UNTIL).toBeLessThan(keys.length * 3);
    }
    await expect.poll(async () => (await compress(bystander)).status, UNTIL).toBe(200);
  });
});

function slowPdf(n: number): Buffer {
  const slow = SLOW_PDFS[n % SLOW_PDFS.length];
  if (slow === undefined) throw new RangeError('there are no slow PDFs');
  return slow.bytes();
}

async function createJob(api: ApiClient, file: Buffer, name: string): Promise<string> {
  const json = { operation: 'compress', input: { upload: await upload(api, file, name) } };
  const created = await api('POST', '/v1/jobs', { json });
  expect(created.status).toBe(202);
  return String(created.json()['id']);
}

async function statusOf(api: ApiClient, id: string | undefined): Promise<string> {
  return String((await api('GET', `/v1/jobs/${id}`)).json()['status']);
}
