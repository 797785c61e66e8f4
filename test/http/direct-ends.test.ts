/**
 * Ends of direct requests when the client disconnects or the engine fails. The engine's port is the real one; the work
 * behind it does not end until it is aborted.
 */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import sharp from 'sharp';
import { afterAll, describe, expect, it } from 'vitest';
import { makeDatabase } from '#api/store/database.ts';
import { PLANS } from '#crds/catalogue/plans.ts';
import { makeLog } from '#crds/process/log.ts';
import { closeServer, listen } from '#crds/process/ops-server.ts';
import { socketUrl } from '#crds/process/start-request.ts';
import { makeApiClient } from '#test/support/api-client.ts';
import { expectRefusal } from '#test/support/expect-refusal.ts';
import { startSecondApi } from '#test/support/second-api.ts';
import { useService, type SharedService } from '#test/support/use-service.ts';
import { AdmissionControl } from '#worker-image/direct/admission-control.ts';
import { makeDirectServer } from '#worker-image/direct/direct-server.ts';

const { service, live, api, makeAccount } = await useService('scale');
const photo = await readFile(new URL('../../api/data/samples/graphic.png', import.meta.url));

const database = makeDatabase({ url: service.databaseUrl, log: makeLog('test', 'error'), maxConnections: 2 });
const directory = await mkdtemp(path.join(tmpdir(), 'direct-ends-'));
/** Abort signals of the work that the engine started. */
const begun: AbortSignal[] = [];
const engine = makeDirectServer(
  {
    pool: {
      expect: () => undefined,
      process: async ({ signal }) => {
        begun.push(signal);
        if (!signal.aborted) await once(signal, 'abort');
        throw signal.reason;
      },
    },
    admissionControl: new AdmissionControl(
      { nowMs: () => performance.now() },
      { children: 1, queue: 0, spool: { requests: 10, bytes: 10_000_000 } },
    ),
    metrics: { worked: () => undefined, shed: () => undefined },
    log: makeLog('test', 'silent'),
    versions: {},
  },
  { root: directory, maxSeconds: 3, maxBytes: 1_000_000 },
);
const sockets = await mkdtemp(path.join(tmpdir(), 'direct-ends-sockets-'));
const engineSocket = path.join(sockets, 'engine');
await listen(engine, { socket: engineSocket });
/** Name of the connections of `stuck`, which tell its statements from those of other tests of the service. */
const STUCK = 'direct-ends';
const stuckDatabase = new URL(service.databaseUrl);
stuckDatabase.searchParams.set('application_name', STUCK);
const stuck = await startSecondApi(service, {
  MEDIAJOBS_ENGINE_URL: socketUrl(engineSocket),
  DATABASE_URL: stuckDatabase.href,
});
const stuckApi = makeApiClient(stuck, live);
afterAll(async () => {
  await Promise.all([stuckApi.close(), database.close()]);
  engine.closeAllConnections();
  await closeServer(engine);
  for (const folder of [directory, sockets]) await rm(folder, { recursive: true });
});

const PATIENT = { timeout: 30_000 };

const meters = (requestId: unknown) =>
  service.query('select meter, amount_micro_usd as amount from ledger where source_id = $1', [requestId]);
const metersOfAccount = (account: string) =>
  service.query('select meter, amount_micro_usd as amount from ledger where account_id = $1', [account]);

/** Opens a direct request whose body the test sends. `length` is that of the whole body. */
function open(at: Pick<SharedService, 'baseUrl' | 'ca'>, key: string, { target = '', length = 0 }): ClientRequest {
  const headers = { authorization: `Bearer ${key}`, 'content-length': String(length) };
  const request = httpsRequest(`${at.baseUrl}/v1/${target}`, { method: 'POST', ca: at.ca, headers, agent: false });
  return request.on('error', () => undefined);
}

describe('an engine', () => {
  // Promise, Settled where the interface leaves it open: Many large frames are legal: the time limit ends them
  // Promise, Bad input, case by case: Busy, hanging and crashing engines
  // Promise, Direct endpoints: Timeout after 120 seconds, internal, processing_failed after a crash
  it('that exceeds the time limit is stopped with timeout, free of charge', async () => {
    const response = await stuckApi('POST', '/v1/compress', { body: photo });
    expectRefusal(response, 'timeout', { status: 504 });
    expect(response.json()['error'].message).toContain('3 seconds');
    expect(response.headers).toMatchObject({ 'ratelimit-limit': '300' });
    expect(begun.at(-1)?.aborted).toBe(true);
    expect(await meters(response.headers['svc-request-id'])).toEqual([{ meter: 'unbilled', amount: 0 }]);
    expect(await readdir(directory)).toEqual([]);
  });

  it('is tried again when a reused connection ends; an unreachable engine results in engine_busy', async () => {
    let cuts = 2;
    const kept: Socket[] = [];
    const proxy = createServer((socket) => {
      kept.push(socket);
      socket.on('error', () => undefined);
      if (cuts > 0) {
        cuts -= 1;
        socket.once('data', () => socket.destroy());
        return;
      }
      const inner = connect(engineSocket).on('error', () => socket.destroy());
      socket.pipe(inner).pipe(socket);
    });
    const proxySocket = path.join(sockets, 'proxy');
    await once(proxy.listen(proxySocket), 'listening');
    const cut = await startSecondApi(service, { MEDIAJOBS_ENGINE_URL: socketUrl(proxySocket) });
    const cutApi = makeApiClient(cut, live);
    const reached = begun.length;
    expectRefusal(await cutApi('POST', '/v1/compress', { body: photo }), 'timeout', { status: 504 });
    expect(begun.length).toBe(reached + 1);
    cuts = Infinity;
    for (const socket of kept) socket.destroy();
    const refused = await cutApi('POST', '/v1/compress', { body: photo });
    expectRefusal(refused, 'engine_busy', { status: 503 });
    expect(begun.length).toBe(reached + 1);
    await cutApi.close();
    proxy.close();
  });

  // Promise, Bad input, case by case: Busy, hanging and crashing engines
  // Promise, Direct endpoints: Engine_busy before the body, nothing counted
  it('without a free slot refuses with engine_busy at once, and the request is not counted', async () => {
    const arrives = once(engine, 'checkContinue');
    const holder = open(stuck, live, { target: 'compress', length: 100 });
    holder.write('only the beginning'.padEnd(80));
    await arrives;
    const response = await stuckApi('POST', '/v1/compress', { body: photo });
    expectRefusal(response, 'engine_busy', { status: 503 });
    expect(response.headers).toMatchObject({ 'retry-after': '1', 'ratelimit-limit': '300' });
    expect(await meters(response.headers['svc-request-id'])).toEqual([]);
    holder.destroy();
    // The slot is free as soon as the engine has noticed the disconnection.
    await expect.poll(async () => (await stuckApi('POST', '/v1/compress', { body: photo })).status, PATIENT).toBe(504);
  });
});

describe('a client that disconnects', () => {
  // Promise, Bad input, case by case: A client that disconnects
  it('while PostgreSQL is slow, before it was admitted, holds none of the slots of its account', async () => {
    const { live: key } = await makeAccount('payg');
    const waiting = () =>
      database.query<{ count: number }>(
        `select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock' and application_name = $1`,
        [STUCK],
      );
    await database.transaction(async (tx) => {
      await tx.query('lock table monthly_spend in access exclusive mode');
      const requests = Array.from({ length: PLANS.payg.concurrentDirect }, () =>
        open(stuck, key, { target: 'compress', length: 100 }),
      );
      for (const request of requests) request.flushHeaders();
      await expect.poll(async () => (await waiting()).rows[0]?.count, PATIENT).toBe(requests.length);
      const closed = requests.map((request) => new Promise((resolve) => request.once('close', resolve)));
      for (const request of requests) request.destroy();
      await Promise.all(closed);
    });
    await expect.poll(async () => (await api('POST', '/v1/compress', { key, body: photo })).status, PATIENT).toBe(200);
  });

  // Promise, Settled where the interface leaves it open: A direct request is billed when its result is ready to send
  // Promise, Bad input, case by case: A client that disconnects
  it('while its file is processed stops the processing and is not billed', async () => {
    const other = await makeAccount('scale');
    const count = begun.length;
    const request = open(stuck, other.live, { target: 'compress', length: photo.length });
    request.end(photo);
    await expect.poll(() => begun.length, PATIENT).toBe(count + 1);
    request.destroy();
    await expect.poll(() => begun.at(-1)?.reason, PATIENT).toMatchObject({ message: 'the client disconnected' });
    await expect.poll(() => readdir(directory), PATIENT).toEqual([]);
    expect(await metersOfAccount(other.account)).toEqual([]);
  });

  // Promise, Bad input, case by case: A client that disconnects
  it('before its file is complete is not billed', async () => {
    const other = await makeAccount('payg');
    const request = open(service, other.live, { target: 'compress', length: photo.length });
    request.write(photo.subarray(0, photo.length - 1));
    await expect.poll(() => request.writableLength, PATIENT).toBe(0);
    request.destroy();
    // A later request has been counted, so the first one would have been counted by now.
    expect((await api('POST', '/v1/compress', { key: other.live, body: photo })).status).toBe(200);
    expect(await metersOfAccount(other.account)).toHaveLength(1);
  });

  // Promise, Settled where the interface leaves it open: A direct request is billed when its result is ready to send
  // Promise, Bad input, case by case: A client that disconnects
  it('when its result is ready is billed, whether it reads the result or not', async () => {
    const other = await makeAccount('scale');
    const large = await sharp({ create: { width: 4000, height: 3000, channels: 3, background: '#28c' } })
      .png()
      .toBuffer();
    const request = open(service, other.live, { target: 'convert?to=bmp', length: large.length });
    request.end(large);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    expect(Number(response.headers['content-length'])).toBeGreaterThan(36_000_000);
    response.destroy();
    expect(await meters(response.headers['svc-request-id'])).toEqual([{ meter: 'images', amount: 2000 }]);
    expect((await api('POST', '/v1/compress', { key: other.live, body: photo })).status).toBe(200);
    expect(await metersOfAccount(other.account)).toHaveLength(2);
  });
});
