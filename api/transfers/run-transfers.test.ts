import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Registry } from 'prom-client';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { selectDueDeletions } from '#api/files/file-deletion-rows.ts';
import { openDiskFiles } from '#api/files/disk-files.ts';
import { makeSecretBox } from '#api/store/secret-box.ts';
import { claimDueTransfers, runTransfer, type TransferDeps } from '#api/transfers/run-transfers.ts';
import { makeTransferMetrics } from '#api/transfers/transfer-metrics.ts';
import { extendLease, insertTransfer, selectSettledTransfers } from '#api/transfers/transfer-rows.ts';
import { newId } from '#crds/ids.ts';
import { makeLog } from '#crds/shared/log.ts';
import { makeSafeFetch } from '#crds/shared/safe-fetch.ts';
import { startWorkPlaces } from '#crds/shared/work-places.ts';
import { testDatabase } from '#test/support/database.ts';
import { startReceiver, trustReceivers, type Received } from '#test/support/receiver.ts';

const START = Date.UTC(2026, 0, 1);
const MB = 1024 ** 2;
let time = START;
const clock = { now: () => new Date(time) };
const log = makeLog('test', 'silent');
const database = await testDatabase();
const directory = await mkdtemp(path.join(tmpdir(), 'mediajobs-transfers-'));
afterAll(() => rm(directory, { recursive: true, force: true }));
const files = await openDiskFiles({ clock, directory, baseUrl: 'http://127.0.0.1:1', linkKeys: [{ id: 'a', key: Buffer.alloc(32, 2) }] });
const secretBox = makeSecretBox([{ id: 'a', key: Buffer.alloc(32, 1) }]);
const NAMES: Readonly<Record<string, string>> = { 'files.receiver.test': '127.0.0.2', 'private.receiver.test': '127.0.0.1' };
const safeFetch = makeSafeFetch({
  resolve: async (name) => [NAMES[name] ?? '127.0.0.1'],
  privateTargets: ['127.0.0.2/32'],
  secureContext: trustReceivers(),
});
const registry = new Registry();
const deps: TransferDeps = { database, files, safeFetch, secretBox, clock, log, metrics: makeTransferMetrics({ database, clock }, registry) };
let accountId = '';

beforeEach(async () => {
  time = START;
  await database.query('truncate transfers, file_deletions');
  accountId = await newAccount();
});

async function newAccount(plan = 'none'): Promise<string> {
  const id = newId('account');
  await database.query('insert into accounts (id, name, plan, created_at) values ($1, $1, $2, $3)', [id, plan, new Date(0)]);
  return id;
}

interface JobFields {
  readonly inputUrl?: string;
  readonly target?: { readonly url: string; readonly headers?: Record<string, string> };
  readonly owner?: string;
}

async function newJob({ inputUrl, target, owner = accountId }: JobFields): Promise<string> {
  const id = newId('job');
  const report = { result: { output_format: 'webp' } };
  const sealedTarget = target === undefined ? null : secretBox.seal(JSON.stringify({ headers: {}, ...target }), `job-output:${id}`);
  await database.query(
    `insert into jobs (id, account_id, livemode, operation, created_at, input_key, input_stored, options, limits, features,
       retention_seconds, metadata, input_url, output_target, output_key, report)
     values ($1, $2, true, 'compress', $3, $4, $5, '{}', '{}', '{}', 3600, '{}', $6, $7, $8, $9)`,
    [
      id,
      owner,
      clock.now(),
      `inputs/${id}`,
      inputUrl === undefined,
      inputUrl === undefined ? null : secretBox.seal(inputUrl, `job-input:${id}`),
      sealedTarget,
      target === undefined ? null : `outputs/${id}/1`,
      target === undefined ? null : JSON.stringify(report),
    ],
  );
  await insertTransfer(database, { jobId: id, direction: inputUrl === undefined ? 'deliver' : 'fetch', nextAt: clock.now() });
  return id;
}

async function jobWithOutput(url: string, headers: Record<string, string> = {}, content = 'the output'): Promise<string> {
  const id = await newJob({ target: { url, headers } });
  await files.put(`outputs/${id}/1`, Readable.from([Buffer.from(content)]), { maxBytes: MB });
  return id;
}

async function runDue(with_: TransferDeps = deps): Promise<number> {
  const claimed = await claimDueTransfers(with_, 100);
  await Promise.all(claimed.map((transfer) => runTransfer(with_, transfer, new AbortController().signal)));
  return claimed.length;
}

async function only<Row>(text: string, id: string): Promise<Row> {
  const { rows } = await database.query<Row>(text, [id]);
  expect(rows).toHaveLength(1);
  return rows[0] as Row;
}
interface State { tries: number; next_at: Date; lease_until: Date | null; done_at: Date | null; error: { code: string; message: string } | null }
const transferOf = (id: string): Promise<State> => only('select tries, next_at, lease_until, done_at, error from transfers where job_id = $1', id);
const inputOf = (id: string): Promise<unknown> => only('select input_stored, input_etag, input_filename, input_size from jobs where id = $1', id);
const finish = (id: string): Promise<unknown> => database.query(`update jobs set status = 'canceled', completed_at = $2, error = '{}' where id = $1`, [id, clock.now()]);

const file = (content: string, headers: Record<string, string> = {}) => (response: ServerResponse): void => {
  response.writeHead(200, { 'content-length': Buffer.byteLength(content), ...headers }).end(content);
};
/** Exactly these bytes, for answers that no HTTP library gives. */
async function rawServer(answer: string): Promise<number> {
  const server = createServer((socket) => void socket.on('error', () => undefined).once('data', () => socket.end(answer)));
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.2', listening));
  afterAll(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe('fetching input.url', () => {
  it('stores the file and tells the job of it in one step', async () => {
    const receiver = await startReceiver({ host: '127.0.0.2', answer: file('hello') });
    const id = await newJob({ inputUrl: `https://files.receiver.test:${receiver.port}/a/photo.jpg?sig=1` });
    await runDue();
    const stored = await files.get(`inputs/${id}`);
    expect((await buffer((stored as NonNullable<typeof stored>).body)).toString()).toBe('hello');
    expect(await inputOf(id)).toEqual({ input_stored: true, input_etag: stored?.etag, input_filename: 'photo.jpg', input_size: 5 });
    expect(await transferOf(id)).toMatchObject({ tries: 1, lease_until: null, done_at: clock.now(), error: null });
    expect(receiver.received[0]).toMatchObject({ method: 'GET', path: '/a/photo.jpg?sig=1', headers: { 'accept-encoding': 'identity' } });
    expect(await runDue()).toBe(0);
    expect(await registry.metrics()).toContain('mediajobs_transfer_tries_total{direction="fetch",outcome="succeeded"} 1');
  });

  it('takes http too, the name of Content-Disposition, and an empty file', async () => {
    const answer = file('', { 'content-disposition': "attachment; filename*=UTF-8''caf%C3%A9.csv" });
    const receiver = await startReceiver({ host: '127.0.0.2', tls: false, answer });
    const id = await newJob({ inputUrl: `http://files.receiver.test:${receiver.port}/x` });
    await runDue();
    expect(await inputOf(id)).toMatchObject({ input_stored: true, input_filename: 'café.csv', input_size: 0 });
  });

  it('follows three redirects and no fourth one; the name is that of the given URL', async () => {
    const answer = (response: ServerResponse, { path: at }: Received): void => {
      const left = Number(at.slice(1));
      if (left === 0) file('there')(response);
      else response.writeHead(302, { location: `/${left - 1}` }).end();
    };
    const receiver = await startReceiver({ host: '127.0.0.2', answer });
    const [three, four] = [await newJob({ inputUrl: `https://127.0.0.2:${receiver.port}/3` }), await newJob({ inputUrl: `https://127.0.0.2:${receiver.port}/4` })];
    await runDue();
    expect(await inputOf(three)).toMatchObject({ input_stored: true, input_filename: '3' });
    expect((await transferOf(four)).error).toEqual({ code: 'input_fetch_failed', message: '`input.url` could not be fetched: it was redirected more than 3 times.' });
  });

  it.each([
    ['HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n', 'it answered 404'],
    ['HTTP/1.1 206 Partial Content\r\nContent-Length: 2\r\n\r\nhi', 'it answered 206'],
    ['HTTP/1.1 304 Not Modified\r\n\r\n', 'it answered 304 without a Location'],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n', 'it answered without a Content-Length'],
    ['HTTP/1.1 200 OK\r\n\r\nhi', 'it answered without a Content-Length'],
    ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Encoding: gzip\r\n\r\nhi', 'Content-Encoding'],
    [`HTTP/1.1 200 OK\r\nContent-Length: ${100 * MB + 1}\r\n\r\nhi`, 'the file has 104857601 bytes; the plan allows 104857600'],
  ])('%j fails at once', async (answer, problem) => {
    const id = await newJob({ inputUrl: `http://127.0.0.2:${await rawServer(answer)}/` });
    await runDue();
    const { tries, done_at, error } = await transferOf(id);
    expect({ tries, done_at, code: error?.code }).toEqual({ tries: 1, done_at: clock.now(), code: 'input_fetch_failed' });
    expect(error?.message).toContain(problem);
    expect(await inputOf(id)).toMatchObject({ input_stored: false });
    expect(await files.head(`inputs/${id}`)).toBeNull();
  });

  it.each([
    ['http://private.receiver.test:9/', 'leads to an address that is not public'],
    ['http://127.0.0.1:9/', 'not an IP address'],
    ['http://8.8.8.8/', 'not an IP address'],
    ['http://169.254.169.254/latest/meta-data/', 'not an IP address'],
  ])('%s is refused at once', async (url, problem) => {
    const id = await newJob({ inputUrl: url });
    await runDue();
    const { tries, error } = await transferOf(id);
    expect({ tries, code: error?.code }).toEqual({ tries: 1, code: 'input_fetch_failed' });
    expect(error?.message).toContain(problem);
  });

  it.each([
    ['an error of the server', 'HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n', 'it answered 503'],
    ['fewer bytes than announced', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf', 'the connection ended before the answer was complete'],
    ['no answer', '', 'the connection ended before the answer was complete'],
  ])('%s is tried three times within a minute', async (_what, answer, problem) => {
    const id = await newJob({ inputUrl: `http://127.0.0.2:${await rawServer(answer)}/` });
    await runDue();
    expect(await transferOf(id)).toMatchObject({ tries: 1, next_at: new Date(START + 5000), done_at: null });
    time += 5000;
    await runDue();
    expect(await transferOf(id)).toMatchObject({ tries: 2, next_at: new Date(START + 25_000), done_at: null });
    time += 20_000;
    await runDue();
    const { tries, error } = await transferOf(id);
    expect({ tries, error }).toEqual({ tries: 3, error: { code: 'input_fetch_failed', message: `\`input.url\` could not be fetched: ${problem}.` } });
    expect(await files.head(`inputs/${id}`)).toBeNull();
  });

  it('the larger plan takes the larger file', async () => {
    const receiver = await startReceiver({ host: '127.0.0.2', answer: (response) => void response.writeHead(200, { 'content-length': 101 * MB }).end(Buffer.alloc(101 * MB)) });
    const id = await newJob({ inputUrl: `https://127.0.0.2:${receiver.port}/`, owner: await newAccount('payg') });
    await runDue();
    expect(await inputOf(id)).toMatchObject({ input_stored: true, input_size: 101 * MB });
    await files.delete(`inputs/${id}`);
  });
});

describe('delivering to output.url', () => {
  it("PUTs the output with its own type and length and the caller's headers", async () => {
    const receiver = await startReceiver({ host: '127.0.0.2' });
    const id = await jobWithOutput(`https://127.0.0.2:${receiver.port}/bucket/key?sig=abc`, { Authorization: 'Bearer caller', 'X-Meta': 'é' });
    await runDue();
    expect(receiver.received).toHaveLength(1);
    expect(receiver.received[0]).toMatchObject({
      method: 'PUT',
      path: '/bucket/key?sig=abc',
      headers: { 'content-type': 'image/webp', 'content-length': '10', authorization: 'Bearer caller', 'x-meta': 'é' },
      body: Buffer.from('the output'),
    });
    expect(await transferOf(id)).toMatchObject({ done_at: clock.now(), error: null });
    expect(await selectSettledTransfers(database, 10)).toEqual([{ jobId: id, direction: 'deliver', error: null }]);
  });

  it("the caller's own Content-Type wins", async () => {
    const receiver = await startReceiver({ host: '127.0.0.2' });
    await jobWithOutput(`https://127.0.0.2:${receiver.port}/`, { 'content-TYPE': 'application/x-own' });
    await runDue();
    expect(receiver.received[0]?.headers['content-type']).toBe('application/x-own');
  });

  it.each([200, 201, 204])('%i is success', async (code) => {
    const receiver = await startReceiver({ host: '127.0.0.2', answer: (response) => void response.writeHead(code).end() });
    const id = await jobWithOutput(`https://127.0.0.2:${receiver.port}/`);
    await runDue();
    expect(await transferOf(id)).toMatchObject({ done_at: clock.now(), error: null });
  });

  it.each([[301, 'redirects are not followed'], [307, 'redirects are not followed'], [403, 'it answered 403'], [404, 'it answered 404']])(
    '%i fails at once',
    async (code, problem) => {
      const receiver = await startReceiver({ host: '127.0.0.2', answer: (response) => void response.writeHead(code, { location: '/' }).end() });
      const id = await jobWithOutput(`https://127.0.0.2:${receiver.port}/`);
      await runDue();
      const { tries, error } = await transferOf(id);
      expect({ tries, code: error?.code }).toEqual({ tries: 1, code: 'output_upload_failed' });
      expect(error?.message).toContain(problem);
      expect(receiver.received).toHaveLength(1);
    },
  );

  it('an error of the server is tried four times, and a later success counts', async () => {
    let code = 500;
    const receiver = await startReceiver({ host: '127.0.0.2', answer: (response) => void response.writeHead(code).end() });
    const failing = await jobWithOutput(`https://127.0.0.2:${receiver.port}/`);
    for (const seconds of [0, 5, 20, 60]) {
      time += seconds * 1000;
      await runDue();
    }
    expect(await transferOf(failing)).toMatchObject({ tries: 4, error: { code: 'output_upload_failed', message: 'The result could not be PUT to `output.url`: it answered 500.' } });
    const recovering = await jobWithOutput(`https://127.0.0.2:${receiver.port}/`);
    await runDue();
    code = 204;
    time += 5000;
    await runDue();
    expect(await transferOf(recovering)).toMatchObject({ tries: 2, error: null, done_at: clock.now() });
  });

  it('a private address and plain http are refused', async () => {
    const [one, two] = [await jobWithOutput('https://127.0.0.1:9/'), await jobWithOutput('http://127.0.0.2:9/')];
    await runDue();
    expect((await transferOf(one)).error?.code).toBe('output_upload_failed');
    expect((await transferOf(two)).error?.message).toContain('must be an https URL');
  });

  it('an output that is gone ends the transfer as a fault of ours', async () => {
    const id = await newJob({ target: { url: 'https://127.0.0.2:9/' } });
    await runDue();
    expect((await transferOf(id)).error?.code).toBe('internal');
  });
});

describe('faults', () => {
  it('a killed process loses nothing: the transfer is made again when its lease is over', async () => {
    const receiver = await startReceiver({ host: '127.0.0.2', answer: file('hello') });
    const id = await newJob({ inputUrl: `https://127.0.0.2:${receiver.port}/` });
    const killed = { ...deps, database: { ...database, transaction: () => Promise.reject(new Error('killed')) } };
    for (const transfer of await claimDueTransfers(deps, 1)) {
      await expect(runTransfer(killed, transfer, new AbortController().signal)).rejects.toThrow('killed');
    }
    time += 59_999;
    expect(await runDue()).toBe(0);
    time += 1;
    expect(await runDue()).toBe(1);
    expect(await inputOf(id)).toMatchObject({ input_stored: true });
  });

  it('a try that ends after another one began decides nothing', async () => {
    const receiver = await startReceiver({ host: '127.0.0.2', answer: (response) => void response.writeHead(404).end() });
    const id = await newJob({ inputUrl: `https://127.0.0.2:${receiver.port}/` });
    const [late] = await claimDueTransfers(deps, 1);
    time += 60_000;
    await claimDueTransfers(deps, 1);
    if (late !== undefined) await runTransfer(deps, late, new AbortController().signal);
    expect(await transferOf(id)).toMatchObject({ tries: 2, done_at: null, error: null, lease_until: new Date(time + 60_000) });
    expect(late !== undefined && (await extendLease(database, late, new Date(time)))).toBe(false);
  });

  it('a stopped process gives the transfer back uncounted', async () => {
    const began = Promise.withResolvers<void>();
    const receiver = await startReceiver({ host: '127.0.0.2', answer: (response) => {
      response.writeHead(200, { 'content-length': 5 }).write('h');
      began.resolve();
    } });
    const id = await newJob({ inputUrl: `https://127.0.0.2:${receiver.port}/` });
    const places = startWorkPlaces({ log }, { name: 'test', atOnce: 4, everyMs: 60_000, claim: (free) => claimDueTransfers(deps, free), work: (item, signal) => runTransfer(deps, item, signal) });
    await began.promise;
    await places.stop();
    expect(await transferOf(id)).toMatchObject({ tries: 0, lease_until: null, done_at: null });
  });

  it("a job that ended meanwhile is skipped, and what was stored for it goes", async () => {
    const before = await newJob({ inputUrl: 'https://127.0.0.2:9/' });
    await finish(before);
    const receiver = await startReceiver({ host: '127.0.0.2', answer: (response) => void finish(during).then(() => file('late')(response)) });
    const during = await newJob({ inputUrl: `https://127.0.0.2:${receiver.port}/` });
    expect(await runDue()).toBe(1);
    expect(await inputOf(during)).toMatchObject({ input_stored: false });
    expect(await runDue()).toBe(0);
    expect(await transferOf(before)).toMatchObject({ tries: 0, done_at: clock.now(), error: null });
    expect(await transferOf(during)).toMatchObject({ done_at: clock.now(), error: null });
    expect(new Set(await selectDueDeletions(database, clock.now(), 10))).toEqual(new Set([`inputs/${before}`, `inputs/${during}`]));
    expect(await selectSettledTransfers(database, 10)).toEqual([]);
  });

  it('a fetch that succeeded is not for the recorder to end, a failed one is', async () => {
    const receiver = await startReceiver({ host: '127.0.0.2', answer: (response, { path: at }) => (at === '/ok' ? file('x')(response) : void response.writeHead(410).end()) });
    await newJob({ inputUrl: `https://127.0.0.2:${receiver.port}/ok` });
    const id = await newJob({ inputUrl: `https://127.0.0.2:${receiver.port}/gone` });
    await runDue();
    const error = { code: 'input_fetch_failed', message: '`input.url` could not be fetched: it answered 410.' };
    expect(await selectSettledTransfers(database, 10)).toEqual([{ jobId: id, direction: 'fetch', error }]);
  });

  it('URLs are encrypted in the database', async () => {
    const id = await newJob({ inputUrl: 'https://files.example.com/?sig=canary' });
    const { text } = await only<{ text: string }>("select encode(input_url, 'escape') as text from jobs where id = $1", id);
    expect(text).not.toContain('canary');
  });
});

describe('places', () => {
  it('one account holds eight at most and delays no other', async () => {
    for (let i = 0; i < 20; i += 1) await newJob({ inputUrl: 'https://127.0.0.2:9/' });
    time += 1;
    const other = await newJob({ inputUrl: 'https://127.0.0.2:9/', owner: await newAccount() });
    const claims = await Promise.all([claimDueTransfers(deps, 10), claimDueTransfers(deps, 10)]);
    const claimed = claims.flat().map(({ jobId }) => jobId);
    expect(claimed).toHaveLength(9);
    expect(claimed).toContain(other);
    expect(await claimDueTransfers(deps, 10)).toEqual([]);
  });
});
