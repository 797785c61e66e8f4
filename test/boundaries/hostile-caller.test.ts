/**
 * Attempts of a hostile caller: requests that two programs parse differently, idle connections, modified links and
 * allow-lists. Each attempt fails, and another caller is served meanwhile.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { createKey } from '#api/accounts/create-key.ts';
import { MEDIACTL } from '#api/audit/audit.ts';
import { outputPath } from '#api/jobs/job-object.ts';
import { signUrl } from '#api/files/signed-url.ts';
import { startInProcessApi } from '#test/support/in-process-api.ts';
import { openRaw, rawRequest } from '#test/support/raw-connection.ts';

const api = await startInProcessApi({
  limits: { total: 1200, perAddress: 200 },
  timeouts: { handshakeTimeout: 3000, headersTimeout: 3000, connectionsCheckingInterval: 50 },
  trustedProxies: ['127.0.0.9/32'],
});
const { key, port, ca } = api;
const HOST = 'Host: localhost\r\n';
const KEY = `Authorization: Bearer ${key}\r\n`;
const POLL = { timeout: 20_000 };
const HSTS = 'max-age=31536000';

const opened: (Socket | TLSSocket)[] = [];
afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy();
});

interface OpenConnection {
  readonly socket: Socket;
  /** Resolves once the server has closed the connection. */
  readonly closed: Promise<void>;
}

function trackConnection(socket: Socket): OpenConnection {
  opened.push(socket);
  socket.on('error', () => undefined).resume();
  return { socket, closed: new Promise((resolve) => void socket.once('close', () => resolve())) };
}

/** Opens a TCP connection, by default to the HTTPS port. */
function openTcp(localAddress = '127.0.0.1', to = port): OpenConnection {
  return trackConnection(connect({ port: to, host: '127.0.0.1', localAddress }));
}

/** Most connections opened at once: more than the operating system queues (511) would be dropped and retried later. */
const WAVE = 100;

/** Opens connections in waves, each from the local address that `addressOf` returns for its number. */
async function openMany(count: number, to: number, addressOf: (n: number) => string): Promise<void> {
  for (let first = 0; first < count; first += WAVE) {
    const wave = Array.from({ length: Math.min(WAVE, count - first) }, (_, n) => openTcp(addressOf(first + n), to));
    await Promise.all(wave.map(({ socket, closed }) => Promise.race([once(socket, 'connect'), closed])));
  }
}

async function expectServed(by = api): Promise<void> {
  const response = await rawRequest(by, `GET /v1/jobs HTTP/1.1\r\n${HOST}Authorization: Bearer ${by.key}\r\n\r\n`);
  expect(response.status).toBe(200);
}

function closedFor(reason: string, by = api): Promise<number> {
  return by.registry
    .getSingleMetricAsString('mediajobs_http_connections_closed_total')
    .then((lines) => Number(new RegExp(`reason="${reason}"} (\\d+)`).exec(lines)?.[1] ?? 0));
}

/** API whose handshake timeout is longer than a test. */
const slowTimeouts = await startInProcessApi({
  limits: { total: 1200, perAddress: 200 },
  timeouts: { handshakeTimeout: 120_000, headersTimeout: 120_000, connectionsCheckingInterval: 1000 },
});

async function expectFewOpen(by: typeof api): Promise<void> {
  await expect
    .poll(() => by.registry.getSingleMetricAsString('mediajobs_http_connections'), POLL)
    .toMatch(/mediajobs_http_connections [0-2]$/);
}

describe('a request that another program may parse differently', () => {
  const post = (headers: string, body = '') => `POST /v1/jobs HTTP/1.1\r\n${HOST}${KEY}${headers}\r\n${body}`;
  const get = (headers: string) => `GET /v1/jobs HTTP/1.1\r\n${headers}\r\n`;
  const CHUNKED = 'Transfer-Encoding: chunked\r\n';
  const END = '0\r\n\r\n';
  it.each([
    ['HTTP/2.0 in the request line', `GET /v1/jobs HTTP/2.0\r\n${HOST}${KEY}\r\n`],
    ['HTTP/0.9 in the request line', `GET /v1/jobs HTTP/0.9\r\n${HOST}${KEY}\r\n`],
    ['HTTP/1.2 in the request line', `GET /v1/jobs HTTP/1.2\r\n${HOST}${KEY}\r\n`],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a space after the version', `GET /v1/jobs HTTP/1.1 \r\n${HOST}${KEY}\r\n`],
    ['Transfer_Encoding beside Content-Length', post('Transfer_Encoding: chunked\r\nContent-Length: 2\r\n', '{}')],
    ['Content_Length', post('Content_Length: 2\r\n')],
    ['X_Forwarded_For', get(`${HOST}${KEY}X_Forwarded_For: 10.0.0.1\r\n`)],
    ['transfer_encoding in small letters', post('transfer_encoding: chunked\r\n')],
    ['Transfer-Encoding with Content-Length', post(`${CHUNKED}Content-Length: 3\r\n`, END)],
    ['Transfer-Encoding with a vertical tab', post('Transfer-Encoding: chunked\x0b\r\n', END)],
    ['Transfer-Encoding that is empty', post('Transfer-Encoding:\r\nContent-Length: 2\r\n', '{}')],
    ['Transfer-Encoding: gzip, chunked', post('Transfer-Encoding: gzip, chunked\r\n', END)],
    ['Transfer-Encoding: xchunked', post('Transfer-Encoding: xchunked\r\n', END)],
    ['Transfer-Encoding twice', post(CHUNKED + CHUNKED, END)],
    ['Transfer-Encoding in HTTP/1.0', `POST /v1/jobs HTTP/1.0\r\n${HOST}${KEY}${CHUNKED}\r\n${END}`],
    ['a space before the colon', post('Transfer-Encoding : chunked\r\n', END)],
    ['Content-Length twice, the same', post('Content-Length: 2\r\nContent-Length: 2\r\n', '{}')],
    ['Content-Length as a list', post('Content-Length: 2, 2\r\n', '{}')],
    ['Content-Length with a plus sign', post('Content-Length: +2\r\n', '{}')],
    ['Content-Length in hexadecimal', post('Content-Length: 0x2\r\n', '{}')],
    ['Content-Length that is empty', post('Content-Length:\r\n', '{}')],
    ['a chunk size with a sign', post(CHUNKED, `+2\r\n{}\r\n${END}`)],
    ['a chunk size of 17 digits', post(CHUNKED, `10000000000000002\r\n{}\r\n${END}`)],
    ['a chunk extension that ends in a bare line feed', post(CHUNKED, `2;a\n{}\r\n${END}`)],
    ['a chunk without its line end', post(CHUNKED, `2\r\n{}${END}`)],
    ['Content-Length among the trailers', post(CHUNKED, '2\r\n{}\r\n0\r\nContent-Length: 5\r\n\r\n')],
    ['a bare line feed after a header', get(`Host: localhost\nX: y\r\n`)],
    ['a bare carriage return in a header', get(`Host: localhost\rX: y\r\n`)],
    ['a folded header', get(`${HOST}X: a\r\n b\r\n`)],
    ['a header without a colon', get(`${HOST}Transfer-Encoding\r\n`)],
    ['a NUL in a header', get(`${HOST}X: a\0b\r\n`)],
    ['no Host', get('')],
    ['Host twice', get(HOST + HOST)],
    ['Host with two names', get('Host: localhost, other\r\n')],
    ['Host with a user name', get('Host: localhost@other\r\n')],
    ['a target on another host', `GET https://other/v1/jobs HTTP/1.1\r\n${HOST}${KEY}\r\n`],
    ['a target with another scheme', `GET ftp://localhost/v1/jobs HTTP/1.1\r\n${HOST}${KEY}\r\n`],
    ['a target with an invalid port', `GET https://localhost:99999999/v1/jobs HTTP/1.1\r\n${HOST}${KEY}\r\n`],
  ])('%s is refused, and the connection is closed', async (_what, bytes) => {
    const raw = await openRaw(api);
    // If the end of the body were ambiguous, this would be parsed as a second request.
    raw.send(Buffer.from(`${bytes}GET /v1/capabilities HTTP/1.1\r\n${HOST}\r\n`, 'latin1'));
    const response = await raw.next();
    expect(response.status).toBe(400);
    expect(JSON.parse(response.body).error).toMatchObject({ code: 'bad_request', type: 'invalid_request_error' });
    expect(response.headers['strict-transport-security']).toBe(HSTS);
    await raw.closed;
    await expect(raw.next()).rejects.toThrow('the connection closed after ""');
  });
});

describe('an idle connection', () => {
  const HELLO = Buffer.concat([Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3]), Buffer.alloc(500, 1)]);
  /** Sends a byte every 20 ms while the connection is open. */
  const trickle = ({ socket, closed }: OpenConnection, bytes: Buffer): void => {
    let sent = 0;
    const timer = setInterval(() => {
      if (sent < bytes.length) socket.write(bytes.subarray(sent, (sent += 1)));
    }, 20);
    void closed.then(() => clearInterval(timer));
  };
  const openTls = async (): Promise<OpenConnection> => {
    const socket = connectTls({ port, host: '127.0.0.1', ca, servername: 'localhost' });
    const connection = trackConnection(socket);
    await new Promise((resolve) => void socket.once('secureConnect', resolve));
    return connection;
  };
  it.each<[string, () => OpenConnection | Promise<OpenConnection>]>([
    ['sends nothing', () => openTcp()],
    [
      'sends half a ClientHello',
      () => {
        const connection = openTcp();
        connection.socket.write(HELLO.subarray(0, 200));
        return connection;
      },
    ],
    [
      'sends a byte of a ClientHello now and then',
      () => {
        const connection = openTcp();
        trickle(connection, HELLO);
        return connection;
      },
    ],
    ['ends the handshake and sends nothing', openTls],
    [
      'ends the handshake and sends a byte of a request now and then',
      async () => {
        const connection = await openTls();
        trickle(connection, Buffer.from(`GET /v1/jobs HTTP/1.1\r\n${'X-A: a\r\n'.repeat(100)}`));
        return connection;
      },
    ],
    ['sends nothing to the plain http port', () => openTcp('127.0.0.1', api.httpPort)],
    [
      'sends a byte now and then to the plain http port',
      () => {
        const connection = openTcp('127.0.0.1', api.httpPort);
        trickle(connection, Buffer.from(`GET /v1/jobs HTTP/1.1\r\n${'X-A: a\r\n'.repeat(100)}`));
        return connection;
      },
    ],
  ])('that %s is closed', async (_what, open) => {
    const { closed } = await open();
    await expectServed();
    await closed;
  });

  it('without TLS is closed and counted, 250 times, and another caller is served meanwhile', async () => {
    const before = await closedFor('handshake_timeout');
    const connections = Array.from({ length: 250 }, (_, n) => openTcp(`127.0.1.${n + 1}`));
    await expectServed();
    await Promise.all(connections.map(({ closed }) => closed));
    expect((await closedFor('handshake_timeout')) - before).toBe(250);
    await expectFewOpen(api);
  });

  it('beyond 200 of one address is closed at once, and 1,000 connections need less than 100 MB', async () => {
    const memory = process.memoryUsage().rss;
    await openMany(1000, slowTimeouts.port, () => '127.0.2.1');
    await expect.poll(() => closedFor('address_limit', slowTimeouts), POLL).toBe(800);
    await expectServed(slowTimeouts);
    // Half of the memory is the test's side of the connections.
    expect(process.memoryUsage().rss - memory).toBeLessThan(100_000_000);
  });

  it('of an address without others is accepted beside 1,200 of twelve addresses', async () => {
    await expectFewOpen(slowTimeouts);
    await openMany(1200, slowTimeouts.port, (n) => `127.0.3.${(n % 12) + 1}`);
    await expect.poll(() => closedFor('total_limit', slowTimeouts), POLL).toBe(120);
    await expectServed(slowTimeouts);
  });
});

describe('a response over HTTPS', () => {
  it.each([
    ['a list', `GET /v1/jobs HTTP/1.1\r\n${HOST}${KEY}\r\n`, 200],
    ['an error', `GET /v1/jobs HTTP/1.1\r\n${HOST}\r\n`, 401],
    ['an unknown path', `GET /nothing HTTP/1.1\r\n${HOST}\r\n`, 404],
    ['a malformed path', `GET /v1/jobs/%zz HTTP/1.1\r\n${HOST}${KEY}\r\n`, 400],
    ['bytes that are not HTTP', 'NONSENSE\r\n\r\n', 400],
    ['the documentation', `GET /docs HTTP/1.1\r\n${HOST}\r\n`, 200],
    ['the dashboard', `GET /dashboard/sign-in HTTP/1.1\r\n${HOST}\r\n`, 200],
  ])('with %s has the Strict-Transport-Security header', async (_what, bytes, status) => {
    const response = await rawRequest(api, bytes);
    expect(response.status).toBe(status);
    expect(response.headers['strict-transport-security']).toBe(HSTS);
  });

  it.each([
    ['plain http', '127.0.0.1', '', 403, false],
    ['plain http that says it was https', '127.0.0.1', 'X-Forwarded-Proto: https\r\n', 403, false],
    ['https that a trusted proxy ended', '127.0.0.9', 'X-Forwarded-Proto: https\r\n', 200, true],
    ['http that a trusted proxy passed on', '127.0.0.9', 'X-Forwarded-Proto: http\r\n', 403, false],
  ])('over %s has the header only for HTTPS', async (_what, address, headers, status, hasIt) => {
    const socket = connect({ port: api.httpPort, host: '127.0.0.1', localAddress: address });
    opened.push(socket);
    socket.write(`GET /v1/jobs HTTP/1.1\r\n${HOST}${KEY}${headers}Connection: close\r\n\r\n`);
    const response = await text(socket);
    expect(response).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(/\r\nstrict-transport-security: max-age=31536000\r\n/i.test(response)).toBe(hasIt);
  });
});

describe('a signed link', () => {
  const path = outputPath('job_0123456789abcdefghij');
  const expires = Math.floor(Date.now() / 1000) + 600;
  const sign = (of: string): string => signUrl(api.deps.linkKeys, { method: 'GET', base: '', path: of, expires });
  const askFor = async (target: string): Promise<{ status: number; code: string }> => {
    const { status, body } = await rawRequest(api, `GET ${target} HTTP/1.1\r\n${HOST}\r\n`);
    return { status, code: JSON.parse(body).error.code };
  };

  it('is accepted unchanged', async () => {
    expect(await askFor(sign(path))).toEqual({ status: 404, code: 'not_found' });
  });

  it.each<[string, (link: string) => string]>([
    ['an empty parameter at its end', (link) => `${link}&`],
    ['an empty parameter before it', (link) => link.replace('?', '?&')],
    ['a parameter with neither name nor value', (link) => `${link}&=`],
    ['a parameter with a name alone', (link) => `${link}&x`],
    ['another parameter', (link) => `${link}&x=1`],
    ['a second question mark', (link) => `${link}?`],
    ['its signature twice', (link) => `${link}&${link.slice(link.indexOf('signature'))}`],
    ['its parameters in another order', (link) => link.replace(/\?(.*)&(.*)/, '?$2&$1')],
    ['a name in percent-encoding', (link) => link.replace('expires', '%65xpires')],
    ['a later end', (link) => link.replace(`${expires}`, `${expires + 1}`)],
    ['a fragment', (link) => `${link}#`],
    ['the path of another job', (link) => link.replace('abcdefghij', 'abcdefghik')],
    ['the signature of a worker', () => sign('/files/outputs/job_0123456789abcdefghij').replace(/^.*\?/, `${path}?`)],
  ])('with %s is refused', async (_what, alter) => {
    expect(await askFor(alter(sign(path)))).toEqual({ status: 403, code: 'invalid_signature' });
  });

  it('of a file for workers is refused with a further parameter', async () => {
    const { startFileServer } = await import('#api/files/file-server.ts');
    const { files, linkKeys, clock, log } = api.deps;
    await files.put('inputs/a', Readable.from([Buffer.from('x')]), { maxBytes: 10 });
    const server = await startFileServer({ files, linkKeys, clock, log, maxBytes: 10 }, { host: '127.0.0.1', port: 0 });
    const link = (await files.signedGet('inputs/a', 60)).replace(/:1\//, `:${server.port}/`);
    const statuses = [];
    for (const url of [link, `${link}&`, `${link}?x`, `${link}&x=`]) statuses.push((await fetch(url)).status);
    await server.close();
    expect(statuses).toEqual([200, 403, 403, 403]);
  });
});

describe('an allow-list', () => {
  it.each(['fe80::1%eth0', 'fe80::%25eth0/64', '10.0.0.0/08', '::10.0.0.1', '0x7f.0.0.1', '010.0.0.1', '0/0'])(
    'with `%s` is refused for a new key',
    async (entry) => {
      const { database, clock, newId } = api.deps;
      const made = createKey(
        { database, clock, newId, peppers: ['x'.repeat(32)] },
        { caller: MEDIACTL, input: { accountId: api.accountId, mode: 'live', name: 'k', allowList: [entry] } },
      );
      await expect(made).rejects.toMatchObject({ code: 'bad_request', param: 'allow_list' });
    },
  );
});
