/**
 * A program on the same machine or in the same cluster attacks internal ports without a key of the installation: it
 * sends requests to the engine, listens on the address of an engine that has died, forges heartbeats, and misuses
 * signed links.
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { makeEngineClient, type AnnouncedBody, type EngineResponse } from '#api/direct/engine-client.ts';
import { openDiskFiles } from '#api/files/disk-files.ts';
import { startFileServer } from '#api/files/file-server.ts';
import type { FileStore } from '#api/files/file-store.ts';
import { serveWorkerPort, type Heartbeats } from '#controller/worker-port-server.ts';
import { heartbeatToken } from '#crds/contract/heartbeat-token.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { MemoryMediaJobs } from '#crds/media-jobs/memory-media-jobs.ts';
import { mediaJobName } from '#crds/contract/names.ts';
import { resolveOptions } from '#crds/catalogue/options/options.ts';
import { fileLimits } from '#crds/catalogue/plans.ts';
import { installationClient, installationServer } from '#crds/process/installation-tls.ts';
import { makeLog } from '#crds/process/log.ts';
import { closeServer, listen, portOf } from '#crds/process/ops-server.ts';
import { socketUrl, startRequest } from '#crds/process/start-request.ts';
import { signUrl } from '#api/files/signed-url.ts';
import { buildNewMediaJob, buildStatus, jobIdOf } from '#test/support/build-media-job.ts';
import { makeReceiverCertificates } from '#test/support/receiver-certificates.ts';
import { engineListener } from '#worker-image/direct/engine-listener.ts';

const LOOPBACK = { host: '127.0.0.1', port: 0 } as const;
const KEYS = [{ id: 'a', key: Buffer.alloc(32, 1) }];
const GUESSED = [{ id: 'a', key: Buffer.alloc(32, 2) }];
const CONTENT = Buffer.from('a-file-of-a-customer'.repeat(1000));
const REQUEST = 'POST /process HTTP/1.1\r\nhost: engine\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n';

describe('a caller without the key of the installation', () => {
  /** Listener of the engine, which counts admitted requests. */
  let engine: Server;
  let port: number;
  let requests = 0;

  beforeAll(async () => {
    const listener = engineListener({
      MEDIAJOBS_ENGINE_SOCKET: undefined,
      MEDIAJOBS_ENGINE_HOST: LOOPBACK.host,
      MEDIAJOBS_ENGINE_PORT: LOOPBACK.port,
      MEDIAJOBS_ENGINE_KEYS: KEYS,
    });
    engine = listener.server.on('request', (_request, response) => {
      requests += 1;
      response.end();
    });
    await listen(engine, listener.address);
    port = portOf(engine) ?? 0;
  });
  afterAll(() => closeServer(engine));

  const WITHOUT_KEY: readonly (readonly [string, ConnectionOptions])[] = [
    ['TLS 1.3 with certificates', { rejectUnauthorized: false }],
    ['TLS 1.2 with certificates', { rejectUnauthorized: false, maxVersion: 'TLSv1.2' }],
    ['a key that it guessed', installationClient(GUESSED)],
    ['a key of zeros', installationClient([{ id: 'a', key: Buffer.alloc(32) }])],
    ['the name of a key that there is not', installationClient([{ id: 'b', key: Buffer.alloc(32, 1) }])],
    ['an empty name of a key', installationClient([{ id: '', key: Buffer.alloc(32, 1) }])],
    ['the longest name that fits', installationClient([{ id: 'a'.repeat(127), key: Buffer.alloc(32, 1) }])],
    ['the key, but without forward secrecy', { ...installationClient(KEYS), ciphers: 'PSK-AES256-GCM-SHA384' }],
    ['the key, but with CBC', { ...installationClient(KEYS), ciphers: 'ECDHE-PSK-AES256-CBC-SHA384' }],
  ];
  it.each(WITHOUT_KEY)('does not reach the engine by %s', async (_how, options) => {
    const before = requests;
    const socket = connectTls({ ...options, port, host: LOOPBACK.host });
    socket.once('secureConnect', () => socket.write(REQUEST));
    await expect(once(socket, 'data')).rejects.toThrow(/alert|disconnected/);
    expect(requests).toBe(before);
  });

  it.each([
    ['plain HTTP', REQUEST],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a handshake of 64 kB', Buffer.concat([Buffer.from([22, 3, 1, 0x40, 0]), Buffer.alloc(65_536)])],
    ['nothing at all', ''],
    ['a handshake that never goes on', Buffer.from([22, 3, 1, 0, 100, 1])],
  ])('is disconnected without a response of the engine after %s', async (_what, bytes) => {
    const before = requests;
    const socket = connect(port, LOOPBACK.host);
    const received = untilClosed(socket);
    if (bytes.length > 0) socket.write(bytes);
    expect((await received).toString('latin1')).not.toContain('HTTP');
    expect(requests).toBe(before);
  });

  it('cannot replay the recorded bytes of an admitted caller', async () => {
    const seen: Buffer[] = [];
    const eavesdropper = createServer((socket) => {
      const inner = connect(port, LOOPBACK.host);
      socket.on('data', (chunk: Buffer) => seen.push(chunk));
      socket.pipe(inner).pipe(socket);
    });
    await once(eavesdropper.listen(LOOPBACK), 'listening');
    const admitted = connectTls({ ...installationClient(KEYS), port: (eavesdropper.address() as AddressInfo).port });
    admitted.write(REQUEST);
    expect(String((await once(admitted, 'data'))[0])).toContain('200 OK');
    admitted.destroy();
    eavesdropper.close();
    const before = requests;
    expect(Buffer.concat(seen).includes('POST')).toBe(false);
    const socket = connect(port, LOOPBACK.host);
    const received = untilClosed(socket);
    for (const chunk of seen) socket.write(chunk);
    await received;
    expect(requests).toBe(before);
  });

  it('cannot renegotiate an admitted connection', async () => {
    const socket = connectTls({ ...installationClient(KEYS), port, host: LOOPBACK.host });
    await once(socket, 'secureConnect');
    const refused = new Promise((resolve) => socket.renegotiate({}, resolve));
    expect(await refused).toBeInstanceOf(Error);
    socket.destroy();
  });

  it('finds no engine on a port that needs no key', () => {
    const config = { MEDIAJOBS_ENGINE_SOCKET: undefined, MEDIAJOBS_ENGINE_HOST: '127.0.0.1', MEDIAJOBS_ENGINE_PORT: 0 };
    expect(() => engineListener({ ...config, MEDIAJOBS_ENGINE_KEYS: [] })).toThrow(
      'MEDIAJOBS_ENGINE_KEYS: is required',
    );
  });
});

describe('a program that listens on the address of an engine that died', () => {
  const certificates = makeReceiverCertificates();
  const own = { cert: certificates.certificate, key: certificates.key };
  /** Servers that admit the request, read its body, and report success. */
  const SQUATTERS: readonly (readonly [string, () => Server])[] = [
    ['speaks plain HTTP', () => createHttpServer()],
    ['has a certificate', () => createHttpsServer(own)],
    ['has a certificate and offers TLS 1.2 only', () => createHttpsServer({ ...own, maxVersion: 'TLSv1.2' })],
    ['has guessed a key', () => createHttpsServer(installationServer(GUESSED))],
    [
      'takes every name of a key',
      () => createHttpsServer({ ...installationServer(KEYS), pskCallback: () => Buffer.alloc(32) }),
    ],
    ['has a certificate and a guessed key', () => createHttpsServer({ ...installationServer(GUESSED), ...own })],
  ];
  it.each(SQUATTERS)('receives no file and determines no result when it %s', async (_how, make) => {
    const taken: string[] = [];
    const squatter = make();
    const seen: Buffer[] = [];
    squatter.on('connection', (socket: Socket) => socket.on('data', (chunk) => seen.push(chunk)));
    squatter.on('request', (request) => taken.push(String(request.url)));
    squatter.on('checkContinue', (request, response) => {
      taken.push(String(request.url));
      response.writeContinue();
      response.end();
    });
    await listen(squatter, LOOPBACK);
    onTestFinished(() => closeServer(squatter));
    const sent = sendTo(`https://127.0.0.1:${portOf(squatter)}`, KEYS);
    await expect(sent).rejects.toSatisfy((error) => error instanceof MediaError && error.code === 'engine_busy');
    expect(taken).toEqual([]);
    expect(Buffer.concat(seen).includes('customer')).toBe(false);
  });

  it('is not accepted as the engine on a reused connection', async () => {
    const genuine = createHttpsServer(installationServer(KEYS));
    genuine.on('checkContinue', (_request, response) => response.writeHead(500).end());
    await listen(genuine, LOOPBACK);
    const port = portOf(genuine) ?? 0;
    const client = makeEngineClient({ url: `https://127.0.0.1:${port}`, keys: KEYS });
    onTestFinished(() => client.close());
    await expect(client.acquireSlot(announcedBody())).rejects.toThrow('responded with status 500');
    await closeServer(genuine);
    let requests = 0;
    const squatter = createHttpServer(() => (requests += 1));
    await listen(squatter, { ...LOOPBACK, port });
    onTestFinished(() => closeServer(squatter));
    await expect(client.acquireSlot(announcedBody())).rejects.toThrow('not available');
    expect(requests).toBe(0);
  });

  it.each([
    ['http://127.0.0.1:8090', KEYS],
    ['https://127.0.0.1:8090', []],
  ])('receives no request without proof of a key: %s', (url, keys) => {
    expect(() => makeEngineClient({ url, keys })).toThrow('MEDIAJOBS_ENGINE_KEYS: is required');
  });
});

describe('a worker with the token of its own attempt', () => {
  const [OWN, OTHER] = [jobIdOf(1), jobIdOf(2)];
  const KEY = Buffer.alloc(32, 1);
  const own = heartbeatToken(KEY, OWN, 1);
  let heartbeats: Heartbeats;
  let woken = 0;

  beforeAll(async () => {
    const clock = { now: () => new Date('2026-01-01T00:00:00Z') };
    const mediaJobs = new MemoryMediaJobs({ clock, newUid: () => 'uid' });
    await mediaJobs.create(buildNewMediaJob());
    const mediaJob = await mediaJobs.get(mediaJobName(OWN));
    if (mediaJob !== null) await mediaJobs.updateStatus(mediaJob, buildStatus({ attempt: 1 }));
    heartbeats = await serveWorkerPort(
      { clock, log: makeLog('test', 'silent'), mediaJobs, grantTransfer: async () => null },
      { address: LOOPBACK, key: KEY },
    );
    heartbeats.watch(() => (woken += 1), new AbortController().signal);
  });
  afterAll(() => heartbeats.close());

  const beat = async (body: object, headers: Record<string, string> = {}): Promise<number> => {
    const sent = {
      method: 'POST',
      headers: { authorization: `Bearer ${own}`, ...headers },
      body: JSON.stringify(body),
    };
    return (await fetch(heartbeats.url, sent)).status;
  };

  it.each([
    ['another job', { jobId: OTHER, attempt: 1 }],
    ['a later attempt of its job', { jobId: OWN, attempt: 2 }],
    ['a job whose id contains its own', { jobId: `${OWN}/1`, attempt: 1 }],
    ['the attempt of number 0', { jobId: OWN, attempt: 0 }],
    ['a negative attempt', { jobId: OWN, attempt: -1 }],
    ['a job with an empty id', { jobId: '', attempt: 1 }],
  ])('cannot report for %s', async (_whom, who) => {
    expect(await beat({ ...who, percent: 50 })).toBe(401);
    expect(heartbeats.last(who.jobId, who.attempt)).toBeNull();
  });

  it('cannot report for another job by the header of forwarded reports', async () => {
    expect(await beat({ jobId: OTHER, attempt: 1, percent: 1 }, { 'mediajobs-forwarded': '1' })).toBe(401);
  });

  it('wakes the controller once for several reports in quick succession', async () => {
    const before = woken;
    for (let percent = 0; percent < 50; percent += 1) expect(await beat({ jobId: OWN, attempt: 1, percent })).toBe(204);
    expect(woken - before).toBe(1);
  });
});

describe('a controller that is not the leader', () => {
  it('forwards no report without a valid token', async () => {
    let passedOn = 0;
    const leader = createHttpServer((_request, response) => {
      passedOn += 1;
      response.writeHead(204).end();
    });
    await listen(leader, LOOPBACK);
    const clock = { now: () => new Date() };
    const heartbeats = await serveWorkerPort(
      {
        clock,
        log: makeLog('test', 'silent'),
        mediaJobs: new MemoryMediaJobs({ clock, newUid: () => 'uid' }),
        grantTransfer: async () => null,
        leader: () => new URL(`http://127.0.0.1:${portOf(leader)}/heartbeat`),
      },
      { address: LOOPBACK, key: Buffer.alloc(32, 1) },
    );
    onTestFinished(async () => {
      await Promise.all([heartbeats.close(), closeServer(leader)]);
    });
    const body = JSON.stringify({ jobId: jobIdOf(1), attempt: 1, percent: 1 });
    for (const authorization of ['', 'Bearer ', `Bearer ${'x'.repeat(43)}`])
      expect((await fetch(heartbeats.url, { method: 'POST', headers: { authorization }, body })).status).toBe(401);
    expect(passedOn).toBe(0);
  });
});

describe('a signed link of the file store on disk', () => {
  const linkKeys = [{ id: '1', key: Buffer.alloc(32, 1) }];
  let folder: string;
  let files: FileStore;
  let base: string;
  let server: { close: () => Promise<void> };
  /** Signed link that reads `uploads/own`. */
  let link: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'neighbor-files-'));
    const socket = join(folder, 'socket');
    base = socketUrl(socket);
    const clock = { now: () => new Date() };
    files = await openDiskFiles({ clock, directory: join(folder, 'files'), baseUrl: base, linkKeys });
    for (const key of ['uploads/own', 'uploads/other'])
      await files.put(key, Readable.from([CONTENT]), { maxBytes: CONTENT.length });
    server = await startFileServer(
      { files, linkKeys, clock, log: makeLog('test', 'silent'), maxBytes: 100_000 },
      { socket },
    );
    link = await files.signedGet('uploads/own', 60);
  });
  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  it('reads its own object through the socket', async () => {
    expect(await request(link, 'GET')).toEqual({ status: 200, body: CONTENT });
  });

  const MISUSES: readonly (readonly [string, string, (url: string) => string])[] = [
    ['writes its object', 'PUT', (url) => url],
    ['removes its object', 'DELETE', (url) => url],
    ['requests only the headers', 'HEAD', (url) => url],
    ['reads another object', 'GET', (url) => url.replace('/own', '/other')],
    ['reads another object by a path that climbs', 'GET', (url) => url.replace('/own', '/own/%2e%2e/other')],
    ['spells its path in another way', 'GET', (url) => url.replace('/own', '/%6fwn')],
    ['doubles a slash of its path', 'GET', (url) => url.replace('uploads/', 'uploads//')],
    ['reads for longer', 'GET', (url) => url.replace(/expires=\d+/, 'expires=99999999999')],
    ['drops the time', 'GET', (url) => url.replace(/expires=\d+&/, '')],
    ['contains two expiry times', 'GET', (url) => `${url}&expires=99999999999`],
    ['contains two signatures', 'GET', (url) => `${url}&signature=x`],
    ['appends a parameter', 'GET', (url) => `${url}&x=`],
    ['cuts the signature off', 'GET', (url) => url.slice(0, -1)],
    [
      'brings the token of a heartbeat',
      'GET',
      (url) =>
        url.replace(
          /signature=.*/,
          `signature=${heartbeatToken(linkKeys[0]?.key ?? Buffer.alloc(0), 'uploads/own', 1)}`,
        ),
    ],
    [
      'brings the signature of a download link of the API',
      'GET',
      (url) => {
        const expires = Number(new URL(url).searchParams.get('expires'));
        const other = signUrl(linkKeys, { method: 'GET', base: '', path: '/v1/jobs/job_a/output', expires });
        return url.replace(/\?.*/, other.slice(other.indexOf('?')));
      },
    ],
  ];
  it.each(MISUSES)('is refused when it %s', async (_how, method, change) => {
    expect((await request(change(link), method)).status).toBe(403);
    expect((await files.head('uploads/own'))?.size).toBe(CONTENT.length);
  });
});

function announcedBody(): AnnouncedBody {
  return { tenant: 'a', bytes: CONTENT.length, signal: AbortSignal.timeout(30_000) };
}

/** Sends a customer's file as the API does. */
async function sendTo(url: string, keys: typeof KEYS): Promise<EngineResponse> {
  const client = makeEngineClient({ url, keys });
  onTestFinished(() => client.close());
  const slot = await client.acquireSlot(announcedBody());
  return slot.process({
    file: Readable.from([CONTENT]),
    work: () => ({
      operation: 'compress',
      options: resolveOptions(new Map()),
      limits: fileLimits('payg'),
      features: { video: false, heicOutput: false },
      filename: null,
      tenant: null,
    }),
  });
}

/** Returns all bytes until the other side closes or resets the connection. */
function untilClosed(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => socket.destroy());
  return new Promise((resolve) => socket.once('close', () => resolve(Buffer.concat(chunks))));
}

function request(url: string, method: string): Promise<{ status: number; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const sent = startRequest(url, { method, headers: method === 'PUT' ? { 'content-length': '1' } : {} });
    sent.once('error', reject);
    sent.once('response', (response) => {
      buffer(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
    sent.end(method === 'PUT' ? 'x' : undefined);
  });
}
