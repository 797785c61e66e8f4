/**
 * How a direct request ends when the client or the engine does not play along. The engine's port is the real
 * one; what stands behind it here works for ever, until it is told to stop.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import sharp from 'sharp';
import { afterAll, describe, expect, it } from 'vitest';
import { makeLog } from '#crds/shared/log.ts';
import { closeServer, listen } from '#crds/shared/ops-server.ts';
import { makeApiClient } from '#test/support/api-client.ts';
import { expectRefusal } from '#test/support/expect-refusal.ts';
import { startSecondApi } from '#test/support/second-api.ts';
import { useService, type SharedService } from '#test/support/use-service.ts';
import { makeDirectPlaces } from '#worker-image/direct-places.ts';
import { makeDirectServer } from '#worker-image/direct-server.ts';

const { service, live, api, makeAccount } = await useService('scale');
const photo = await readFile(new URL('../../api/samples/files/graphic.png', import.meta.url));

const directory = await mkdtemp(path.join(tmpdir(), 'direct-ends-'));
/** The works begun, each with the end that it was told. */
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
    places: makeDirectPlaces({ nowMs: () => performance.now() }, { children: 1, queue: 0 }),
    metrics: { worked: () => undefined, turnedAway: () => undefined },
    log: makeLog('test', 'silent'),
    versions: {},
  },
  { root: directory, maxSeconds: 3, maxBytes: 1_000_000 },
);
await listen(engine, { host: '127.0.0.1', port: 0 });
const stuck = await startSecondApi(service, `http://127.0.0.1:${(engine.address() as AddressInfo).port}`);
const stuckApi = makeApiClient(stuck, live);
afterAll(async () => {
  await stuckApi.close();
  engine.closeAllConnections();
  await closeServer(engine);
  await rm(directory, { recursive: true });
});

const PATIENT = { timeout: 30_000 };

const meters = (requestId: unknown) =>
  service.query('select meter, amount_micro_usd as amount from ledger where source_id = $1', [requestId]);
const metersOfAccount = (account: string) =>
  service.query('select meter, amount_micro_usd as amount from ledger where account_id = $1', [account]);

/** A direct request under the hands of the test; the length is that of the whole body. */
function open(at: Pick<SharedService, 'baseUrl' | 'ca'>, key: string, { target = '', length = 0 }): ClientRequest {
  const headers = { authorization: `Bearer ${key}`, 'content-length': String(length) };
  const request = httpsRequest(`${at.baseUrl}/v1/${target}`, { method: 'POST', ca: at.ca, headers, agent: false });
  return request.on('error', () => undefined);
}

describe('an engine', () => {
  it('that works for too long is stopped: timeout, free of charge', async () => {
    const answer = await stuckApi('POST', '/v1/compress', { body: photo });
    expectRefusal(answer, 'timeout', { status: 504 });
    expect(answer.json()['error'].message).toContain('3 seconds');
    expect(answer.headers).toMatchObject({ 'ratelimit-limit': '300' });
    expect(begun.at(-1)?.aborted).toBe(true);
    expect(await meters(answer.headers['svc-request-id'])).toEqual([{ meter: 'unbilled', amount: 0 }]);
    expect(await readdir(directory)).toEqual([]);
  });

  it('whose connection ends when it is used is asked again; an engine that is away is engine_busy', async () => {
    let cuts = 2;
    const kept: Socket[] = [];
    const door = createServer((socket) => {
      kept.push(socket);
      socket.on('error', () => undefined);
      if (cuts > 0) {
        cuts -= 1;
        socket.once('data', () => socket.resetAndDestroy());
        return;
      }
      const { port } = engine.address() as AddressInfo;
      const inner = connect(port, '127.0.0.1').on('error', () => socket.destroy());
      socket.pipe(inner).pipe(socket);
    });
    await once(door.listen(0, '127.0.0.1'), 'listening');
    const cut = await startSecondApi(service, `http://127.0.0.1:${(door.address() as AddressInfo).port}`);
    const cutApi = makeApiClient(cut, live);
    const reached = begun.length;
    expectRefusal(await cutApi('POST', '/v1/compress', { body: photo }), 'timeout', { status: 504 });
    expect(begun.length).toBe(reached + 1);
    cuts = Infinity;
    for (const socket of kept) socket.destroy();
    const away = await cutApi('POST', '/v1/compress', { body: photo });
    expectRefusal(away, 'engine_busy', { status: 503 });
    expect(begun.length).toBe(reached + 1);
    await cutApi.close();
    door.close();
  });

  it('without a free place answers engine_busy at once, and the request counts nowhere', async () => {
    const arrives = once(engine, 'checkContinue');
    const holder = open(stuck, live, { target: 'compress', length: 100 });
    holder.write('only the beginning');
    await arrives;
    const answer = await stuckApi('POST', '/v1/compress', { body: photo });
    expectRefusal(answer, 'engine_busy', { status: 503 });
    expect(answer.headers).toMatchObject({ 'retry-after': '1', 'ratelimit-limit': '300' });
    expect(await meters(answer.headers['svc-request-id'])).toEqual([]);
    holder.destroy();
    // Its place is free again as soon as the engine has noticed.
    await expect.poll(async () => (await stuckApi('POST', '/v1/compress', { body: photo })).status, PATIENT).toBe(504);
  });
});

describe('a client that leaves', () => {
  it('while its file is at work stops the work, and pays nothing', async () => {
    const other = await makeAccount('scale');
    const count = begun.length;
    const request = open(stuck, other.live, { target: 'compress', length: photo.length });
    request.end(photo);
    await expect.poll(() => begun.length, PATIENT).toBe(count + 1);
    request.destroy();
    await expect.poll(() => begun.at(-1)?.reason, PATIENT).toMatchObject({ message: 'the client went away' });
    await expect.poll(() => readdir(directory), PATIENT).toEqual([]);
    expect(await metersOfAccount(other.account)).toEqual([]);
  });

  it('before its file is complete pays nothing', async () => {
    const other = await makeAccount('payg');
    const request = open(service, other.live, { target: 'compress', length: photo.length });
    request.write(photo.subarray(0, photo.length - 1));
    await expect.poll(() => request.writableLength, PATIENT).toBe(0);
    request.destroy();
    // One that comes later was counted, so that the first one would have been, too.
    expect((await api('POST', '/v1/compress', { key: other.live, body: photo })).status).toBe(200);
    expect(await metersOfAccount(other.account)).toHaveLength(1);
  });

  it('once its result is there pays for it, read or not', async () => {
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
