import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { makeSafeFetch, type SafeFetchDeps, type SafeRequest, type SafeResponse } from '#api/outbound/safe-fetch.ts';
import { PRIVATE_HOSTS } from '#test/support/private-hosts.ts';
import { startReceiver, trustReceivers } from '#test/support/receiver.ts';

const NAMES: Readonly<Record<string, readonly string[]>> = {
  'a.receiver.test': ['127.0.0.2'],
  'two.receiver.test': ['127.0.0.3', '127.0.0.2'],
  'other.example': ['127.0.0.2'],
  'private.receiver.test': ['127.0.0.1'],
  'xn--bcher-kva.receiver.test': ['127.0.0.1'],
  'mixed.receiver.test': ['93.184.216.34', '127.0.0.1'],
  'mapped.receiver.test': ['::ffff:127.0.0.1'],
  'nat64.receiver.test': ['64:ff9b::7f00:1'],
  'localhost.': ['127.0.0.1'],
  'empty.receiver.test': [],
};

const resolve = async (name: string): Promise<readonly string[]> => {
  const addresses = NAMES[name];
  if (addresses === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
  return addresses;
};

/** 127.0.0.2 and .3 stand for public addresses. 127.0.0.1 is private, and the canary listens on it. */
const deps: SafeFetchDeps = { resolve, privateTargets: ['127.0.0.2/31'], secureContext: trustReceivers() };
const receiver = await startReceiver({ host: '127.0.0.2', respond: (response, { path }) => answers(path)(response) });
const canary = await startReceiver({ host: '127.0.0.1', tls: false });

const answers = (path: string): ((response: ServerResponse) => void) => {
  const [, kind = '', rest = ''] = /^\/(\w+)\/?(.*)$/.exec(path) ?? [];
  if (kind === 'redirect')
    return (response) =>
      response.writeHead(302, { location: Buffer.from(decodeURIComponent(rest)).toString('latin1') }).end();
  if (kind === 'hops')
    return (response) =>
      rest === '0' ? response.end('there') : response.writeHead(307, { location: `/hops/${Number(rest) - 1}` }).end();
  if (kind === 'bytes') return (response) => response.end(Buffer.alloc(Number(rest), 'x'));
  if (kind === 'endless') return (response) => response.writeHead(200).write('x');
  if (kind === 'headers') return (response) => response.writeHead(200, { 'x-long': 'x'.repeat(Number(rest)) }).end();
  if (kind === 'hang') return () => undefined;
  return (response) => response.end('hello');
};

const get = (
  url: string,
  more: Partial<SafeRequest> = {},
  moreDeps: Partial<SafeFetchDeps> = {},
): Promise<SafeResponse> =>
  makeSafeFetch({ ...deps, ...moreDeps })({
    url,
    purpose: 'input',
    method: 'GET',
    headers: {},
    maxRedirects: 3,
    totalMs: 20_000,
    idleMs: 20_000,
    maxBodyBytes: 1000,
    ...more,
  });
const text = async (response: SafeResponse): Promise<string> => (await buffer(response.body())).toString();
const at = (path: string): string => `https://a.receiver.test:${receiver.port}${path}`;

const HOSTS = [
  ...PRIVATE_HOSTS,
  'private.receiver.test',
  'mixed.receiver.test',
  'mapped.receiver.test',
  'nat64.receiver.test',
  '8.8.8.8',
];

describe('safeFetch', () => {
  it('sends Host and SNI of the URL, verifies its certificate and requests no content coding', async () => {
    const response = await get(at('/hello?a=1'));
    expect(response.status).toBe(200);
    expect(await text(response)).toBe('hello');
    expect(receiver.received.at(-1)).toMatchObject({
      path: '/hello?a=1',
      headers: { host: `a.receiver.test:${receiver.port}`, 'accept-encoding': 'identity', connection: 'close' },
    });
  });

  it('uses a new connection for each request', async () => {
    const before = receiver.connections();
    (await get(at('/'))).discard();
    (await get(at('/'))).discard();
    expect(receiver.connections()).toBe(before + 2);
  });

  it('tries the next address when the first one refuses the connection', async () => {
    expect(await text(await get(`https://two.receiver.test:${receiver.port}/`))).toBe('hello');
  });

  it('sends a stream as the body', async () => {
    const body = Readable.from([Buffer.from('one '), Buffer.from('two')]);
    const response = await get(`https://127.0.0.2:${receiver.port}/`, {
      purpose: 'output',
      method: 'PUT',
      headers: { 'content-length': '7' },
      body,
    });
    response.discard();
    expect(receiver.received.at(-1)).toMatchObject({
      method: 'PUT',
      body: Buffer.from('one two'),
      headers: { 'content-length': '7' },
    });
  });

  it('ignores proxy settings of the environment', async () => {
    process.env['HTTPS_PROXY'] = process.env['https_proxy'] = canary.url;
    try {
      expect(await text(await get(at('/')))).toBe('hello');
    } finally {
      delete process.env['HTTPS_PROXY'];
      delete process.env['https_proxy'];
    }
  });
});

describe('safeFetch with private addresses', () => {
  // Promise, Bad input, case by case: Private hosts in every notation
  it.each(HOSTS)('does not connect to %s', async (host) => {
    await expect(get(`http://${host}:${canary.port}/`)).rejects.toMatchObject({
      name: 'SafeFetchError',
      reason: 'forbidden_address',
    });
    expect(canary.connections()).toBe(0);
  });

  // Promise, Bad input, case by case: Redirects to private addresses
  it.each([
    ...HOSTS.map((host) => `http://${host}:${canary.port}/`),
    'file:///etc/passwd',
    'ftp://a.receiver.test/',
    'gopher://127.0.0.1/',
    'http://u:p@a.receiver.test/',
  ])('refuses a redirect to %s', async (location) => {
    const reason = expect.stringMatching(/^(forbidden_address|bad_url)$/);
    await expect(get(at(`/redirect/${encodeURIComponent(location)}`))).rejects.toMatchObject({
      name: 'SafeFetchError',
      reason,
    });
    expect(canary.connections()).toBe(0);
  });

  // Promise, Bad input, case by case: A host name that later resolves to another address
  it('connects to the checked address when the name resolves to another one later', async () => {
    let lookups = 0;
    const rebinding = async (): Promise<string[]> => [(lookups += 1) === 1 ? '127.0.0.2' : '127.0.0.1'];
    expect(await text(await get(at('/'), {}, { resolve: rebinding }))).toBe('hello');
    await expect(get(at('/redirect/%2F'), {}, { resolve: rebinding })).rejects.toMatchObject({
      reason: 'forbidden_address',
    });
    expect(canary.connections()).toBe(0);
  });

  it('does not name the address in the refusal', async () => {
    await expect(get(`http://private.receiver.test:${canary.port}/`)).rejects.toThrow(
      /^the name private\.receiver\.test resolves to an address that is not public$/,
    );
  });

  it('checks a host in international letters in its punycode form, and names it in that form', async () => {
    await expect(get(`http://bücher.receiver.test:${canary.port}/`)).rejects.toThrow(
      'the name xn--bcher-kva.receiver.test resolves to an address that is not public',
    );
  });

  it('connects to an allowed network, but not by an address of the other family', async () => {
    const isAllowed = await get(`http://[::ffff:127.0.0.1]:${canary.port}/`, {}, { privateTargets: ['127.0.0.0/8'] });
    expect(isAllowed.status).toBe(204);
    isAllowed.discard();
    await expect(get(`http://127.0.0.1:${canary.port}/`, {}, { privateTargets: ['::/0'] })).rejects.toMatchObject({
      reason: 'forbidden_address',
    });
  });

  it('requires https and the default port for webhook and output', async () => {
    await expect(get(at('/'), { purpose: 'webhook' })).rejects.toMatchObject({ reason: 'bad_url' });
    await expect(get(`http://127.0.0.2:${receiver.port}/`, { purpose: 'output' })).rejects.toMatchObject({
      reason: 'bad_url',
    });
  });
});

describe('safeFetch with redirects', () => {
  it('follows three', async () => {
    expect(await text(await get(at('/hops/3')))).toBe('there');
  });

  it.each(['/hops/4', `/redirect/${encodeURIComponent('/redirect/')}`])('refuses a fourth one: %s', async (path) => {
    const loop = path.startsWith('/redirect') ? `/redirect/${encodeURIComponent(at('/hops/9'))}` : path;
    await expect(get(at(loop))).rejects.toMatchObject({ reason: 'too_many_redirects' });
  });

  it('returns the redirect when none may be followed', async () => {
    const response = await get(at('/hops/1'), { maxRedirects: 0 });
    expect(response.status).toBe(307);
    response.discard();
  });
});

describe('safeFetch with limits', () => {
  it('fails when the body exceeds its maximum size', async () => {
    expect(await text(await get(at('/bytes/1000')))).toHaveLength(1000);
    await expect(get(at('/bytes/1001')).then(text)).rejects.toMatchObject({ reason: 'body_too_large' });
  });

  it('fails when the headers exceed 16 KiB', async () => {
    (await get(at('/headers/10000'))).discard();
    await expect(get(at('/headers/17000'))).rejects.toMatchObject({ reason: 'bad_response' });
  });

  it.each([
    ['/hang', { totalMs: 50 }, 'it took longer than 0.05 seconds'],
    ['/redirect/%2Fhang', { totalMs: 300 }, 'it took longer than 0.3 seconds'],
    ['/hang', { idleMs: 50 }, 'no data was transferred for 0.05 seconds'],
    ['/endless', { totalMs: 300 }, 'it took longer than 0.3 seconds'],
    ['/endless', { idleMs: 300 }, 'no data was transferred for 0.3 seconds'],
  ])('ends the request of %s by %o', async (path, limits, message) => {
    await expect(get(at(path), limits).then(text)).rejects.toMatchObject({ reason: 'timeout', message });
  });

  it('resolves no name when it was aborted before', async () => {
    const lookups: string[] = [];
    const notFound = (name: string): Promise<string[]> => {
      lookups.push(name);
      return Promise.reject(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }));
    };
    await expect(get(at('/'), { signal: AbortSignal.abort() }, { resolve: notFound })).rejects.toMatchObject({
      reason: 'aborted',
    });
    expect(lookups).toEqual([]);
  });

  it('ignores a failed resolution after an abort', async () => {
    const abort = new AbortController();
    const lookup = Promise.withResolvers<string[]>();
    const aborted = get(at('/'), { signal: abort.signal }, { resolve: () => lookup.promise });
    abort.abort();
    await expect(aborted).rejects.toMatchObject({ reason: 'aborted' });
    lookup.reject(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }));
    // An unhandled rejection would fail the test run.
    await new Promise((handled) => setImmediate(handled));
  });

  it('ends at the deadline while the resolver does not respond', async () => {
    await expect(get(at('/'), { totalMs: 50 }, { resolve: () => new Promise(() => undefined) })).rejects.toMatchObject({
      reason: 'timeout',
    });
  });

  it('closes the connection to a host that sends nothing', async () => {
    const closed = Promise.withResolvers<void>();
    const silent = await startSilent((socket) => socket.resume().once('close', () => closed.resolve()));
    await expect(get(`https://127.0.0.2:${silent}/`, { totalMs: 50 })).rejects.toMatchObject({ reason: 'timeout' });
    await closed.promise;
  });

  it('ends when the caller aborts', async () => {
    const abort = new AbortController();
    const request = get(at('/hang'), { signal: abort.signal });
    abort.abort();
    await expect(request).rejects.toMatchObject({ reason: 'aborted' });
    await expect(get(at('/'), { signal: abort.signal })).rejects.toMatchObject({ reason: 'aborted' });
  });
});

describe('errors of safeFetch', () => {
  it.each([
    ['https://missing.receiver.test/', 'name_not_found', true],
    ['https://empty.receiver.test/', 'name_not_found', true],
    ['http://127.0.0.3:9/', 'connection_failed', true],
    ['nonsense', 'bad_url', false],
    ['file:///etc/passwd', 'bad_url', false],
  ])('for %s have the reason %s', async (url, reason, isTransient) => {
    await expect(get(url)).rejects.toMatchObject({ reason, isTransient });
  });

  it('reject a certificate for another name', async () => {
    await expect(get(`https://other.example:${receiver.port}/`)).rejects.toMatchObject({ reason: 'certificate' });
  });

  it('report an http response to a TLS handshake as a failed connection', async () => {
    const plain = await startReceiver({ host: '127.0.0.2', tls: false });
    await expect(get(`https://127.0.0.2:${plain.port}/`)).rejects.toMatchObject({ reason: 'connection_failed' });
  });

  it.each([
    ['nothing', '', 'connection_failed'],
    ['no HTTP', 'SSH-2.0-x\r\n', 'bad_response'],
    ['half a body', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf', 'connection_failed'],
  ])('report a host that sends %s and closes', async (_what, response, reason) => {
    const port = await startSilent((socket) => socket.once('data', () => socket.end(response)));
    await expect(get(`http://127.0.0.2:${port}/`).then(text)).rejects.toMatchObject({ reason });
  });
});

async function startSilent(onSocket: (socket: Socket) => void): Promise<number> {
  const server: Server = createServer((socket) => onSocket(socket.on('error', () => undefined)));
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.2', listening));
  afterAll(() => void server.close());
  return (server.address() as AddressInfo).port;
}
