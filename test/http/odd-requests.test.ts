/** Malformed and unusual requests. Each response is complete, and the connection stays usable or is closed. */
import { afterEach, describe, expect, it } from 'vitest';
import { openRaw, rawRequest, type RawConnection } from '#test/support/raw-connection.ts';
import { useService } from '#test/support/use-service.ts';

const { service, live, api } = await useService('scale');

const KEY = `Authorization: Bearer ${live}\r\n`;
const HOST = 'Host: localhost\r\n';
const ask = (bytes: string | Buffer) => rawRequest(service, bytes);
const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\n${HOST}${headers}\r\n`;
const post = (path: string, headers: string, body: string) =>
  `POST ${path} HTTP/1.1\r\n${HOST}${KEY}${headers}\r\n${body}`;

const opened: RawConnection[] = [];
afterEach(() => {
  for (const connection of opened.splice(0)) connection.close();
});
async function connection(): Promise<RawConnection> {
  const made = await openRaw(service);
  opened.push(made);
  return made;
}

function expectError(response: Awaited<ReturnType<typeof ask>>, status: number, code: string): void {
  expect(response.status).toBe(status);
  const { error } = JSON.parse(response.body) as { error: Record<string, unknown> };
  expect(error).toMatchObject({ code, request_id: response.headers['svc-request-id'] });
  expect(Object.keys(error).toSorted()).toEqual(['code', 'doc_url', 'message', 'param', 'request_id', 'type']);
  expect(response.headers['svc-request-id']).toMatch(/^req_[0-9a-z]{20}$/);
  expect(response.headers['svc-version']).toBe('2026-10-01');
}

describe('bytes that are not valid HTTP', () => {
  // Promise, Bad input, case by case: Smuggling and broken framing
  // Promise, Conventions and objects: Every response has request id and version
  it.each([
    [
      'Content-Length with Transfer-Encoding',
      post('/v1/jobs', 'Content-Length: 3\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'),
    ],
    ['two Content-Lengths', post('/v1/jobs', 'Content-Length: 3\r\nContent-Length: 4\r\n', 'abc')],
    ['two equal Content-Lengths', post('/v1/jobs', 'Content-Length: 2\r\nContent-Length: 2\r\n', '{}')],
    ['a negative Content-Length', post('/v1/jobs', 'Content-Length: -1\r\n', '')],
    ['a Content-Length beyond any number', post('/v1/jobs', 'Content-Length: 99999999999999999999\r\n', '')],
    ['a folded header', get('/v1/capabilities', 'X-A: a\r\n b\r\n')],
    ['bare line feeds', 'GET /v1/capabilities HTTP/1.1\nHost: x\n\n'],
    ['a chunk size that is none', post('/v1/jobs', 'Transfer-Encoding: chunked\r\n', 'zz\r\n{}\r\n0\r\n\r\n')],
    [
      'a chunk extension of a megabyte',
      post('/v1/jobs', 'Transfer-Encoding: chunked\r\n', `2;x=${'y'.repeat(1e6)}\r\n{}\r\n`),
    ],
    ['a transfer coding that is not chunked', post('/v1/jobs', 'Transfer-Encoding: identity\r\n', '{}')],
    ['a header of 17 KiB', get('/v1/capabilities', `X-A: ${'a'.repeat(17_000)}\r\n`)],
    ['a query of 100 KB', get(`/v1/jobs?limit=${'1'.repeat(100_000)}`)],
    ['2,500 headers', get('/v1/capabilities', 'X-Another: b\r\n'.repeat(2500))],
    ['a path without its slash', `GET v1/jobs HTTP/1.1\r\n${HOST}\r\n`],
  ])('%s: 400, and the connection is closed', async (_what, bytes) => {
    const raw = await connection();
    raw.send(bytes);
    expectError(await raw.next(), 400, 'bad_request');
    await raw.closed;
  });

  // Promise, Conventions and objects: Error object: type, code, message, param, request id, link to a page that exists
  it.each([
    ['no Host', 'GET /v1/capabilities HTTP/1.1\r\n\r\n'],
    ['two Hosts', `GET /v1/capabilities HTTP/1.1\r\n${HOST}Host: other\r\n\r\n`],
    ['a percent sign that means nothing', get('/v1/jobs/%zz', KEY)],
    ['percent-encoded bytes that are not UTF-8', get('/v1/jobs/%ff%fe', KEY)],
  ])('%s: 400', async (_what, bytes) => {
    expectError(await ask(bytes), 400, 'bad_request');
  });

  // Promise, Bad input, case by case: Smuggling and broken framing
  it('do not affect the next request on another connection', async () => {
    expect((await api('GET', '/v1/jobs')).status).toBe(200);
  });
});

describe('methods', () => {
  // Promise, Bad input, case by case: Methods and paths
  // Promise, What the service does: A wrong method is 405 with Allow; an unknown path is 404
  it.each(['TRACE', 'PROPFIND', 'QUERY', 'M-SEARCH', 'LINK', 'PATCH', 'OPTIONS'])(
    '%s /v1/jobs is 405 with Allow',
    async (method) => {
      const response = await ask(`${method} /v1/jobs HTTP/1.1\r\n${HOST}\r\n`);
      expectError(response, 405, 'bad_request');
      expect(response.headers['allow']).toBe('POST, GET');
    },
  );

  // Promise, What the service does: A wrong method is 405 with Allow; an unknown path is 404
  it.each(['FOO', 'get', 'GETT', 'G@T'])(
    '%s, an unknown method, is 405, or 400 when it is not a token',
    async (method) => {
      const raw = await connection();
      raw.send(`${method} /v1/jobs HTTP/1.1\r\n${HOST}\r\n`);
      expectError(await raw.next(), method === 'G@T' ? 400 : 405, 'bad_request');
      await raw.closed;
    },
  );

  // Promise, Bad input, case by case: Methods and paths
  it('CONNECT is 405', async () => {
    expectError(await ask(`CONNECT localhost:443 HTTP/1.1\r\n${HOST}\r\n`), 405, 'bad_request');
  });

  // Promise, What the service does: A wrong method is 405 with Allow; an unknown path is 404
  it.each(['PATCH', 'DELETE', 'POST', 'PUT'])(
    '%s of the signing secret is 405: the word is not an id',
    async (method) => {
      const response = await api(method, '/v1/webhook_endpoints/signing_secret', { json: { enabled: true } });
      expect(response.status).toBe(405);
      expect(response.headers['allow']).toBe('GET');
      expect((await api(method, '/v1/webhook_endpoints/signing_secret/', { json: {} })).status).toBe(405);
    },
  );

  // Promise, What the service does: No CORS headers
  it('no response has CORS headers', async () => {
    const origin = 'Origin: https://example.com\r\nAccess-Control-Request-Method: POST\r\n';
    for (const bytes of [`OPTIONS /v1/jobs HTTP/1.1\r\n${HOST}${origin}\r\n`, get('/v1/capabilities', origin)]) {
      const names = Object.keys((await ask(bytes)).headers);
      expect(names.filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });
});

describe('paths', () => {
  // Promise, Bad input, case by case: Methods and paths
  // Promise, What the service does: A wrong method is 405 with Allow; an unknown path is 404
  it.each([
    '/v1',
    '/v1/',
    '/V1/Jobs',
    '/v1/../v1/jobs',
    '/v1/jobs%2f',
    '/v1/jobs;limit=1',
    '*',
    '/v1/jobs/job_1/outputs',
    `/v1/jobs/${'a'.repeat(3000)}`,
    '/v1/jobs/%F0%9F%98%80',
  ])('%s is not found', async (path) => {
    expectError(await ask(get(path, KEY)), 404, 'not_found');
  });

  // Promise, Bad input, case by case: Methods and paths
  it.each(['/v1/%6aobs', '/v1/jobs/?limit=1', 'https://localhost/v1/jobs', '/v1/jobs?', '/v1/jobs?&&limit=1&'])(
    '%s is the list of jobs',
    async (path) => {
      expect(JSON.parse((await ask(get(path, KEY))).body)).toMatchObject({ object: 'list' });
    },
  );
});

describe('headers', () => {
  it.each([
    ['an unknown Expect', 'Expect: bananas\r\n'],
    ['an Upgrade to WebSocket', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'],
    [
      'an Upgrade to HTTP/2',
      'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n',
    ],
    ['an Accept of something else', 'Accept: text/html;q=1, */*;q=0\r\nAccept-Encoding: gzip, br\r\n'],
    ['conditions', 'If-None-Match: *\r\nIf-Modified-Since: Sat, 01 Jan 2050 00:00:00 GMT\r\nRange: bytes=0-1\r\n'],
  ])('%s changes nothing', async (_what, headers) => {
    const response = await ask(get('/v1/jobs', KEY + headers));
    expect(response.status).toBe(200);
    expect(JSON.parse(response.body)).toMatchObject({ object: 'list' });
  });

  // Promise, Authentication: Bearer only: no query, cookie or basic
  it.each([
    ['bearer in small letters', `authorization: bearer ${live}\r\n`, 200],
    ['spaces after it', `Authorization: Bearer   ${live}  \r\n`, 200],
    ['a word after the key', `Authorization: Bearer ${live} x\r\n`, 401],
    ['the key alone', `Authorization: ${live}\r\n`, 401],
    ['the key in another header', `X-Api-Key: ${live}\r\n`, 401],
    ['the key in a cookie', `Cookie: authorization=${live}\r\n`, 401],
    ['bytes outside ASCII', 'Authorization: Bearer svc_live_\u00e9\r\n', 401],
  ])('the key with %s', async (_what, header, status) => {
    expect((await ask(Buffer.from(get('/v1/jobs', header), 'latin1'))).status).toBe(status);
  });

  // Promise, Bad input, case by case: No key, another scheme, key in the query
  // Promise, Authentication: Bearer only: no query, cookie or basic
  it('a key in the query does not authenticate', async () => {
    expectError(await ask(get(`/v1/jobs?api_key=${live}&authorization=Bearer%20${live}`)), 401, 'missing_key');
  });

  it('Expect: 100-continue receives its response before the body is read', async () => {
    const raw = await connection();
    raw.send(post('/v1/uploads', 'Expect: 100-continue\r\nContent-Length: 10\r\n', ''));
    expect((await raw.next()).status).toBe(100);
    raw.send('{"size":1}');
    expect((await raw.next()).status).toBe(201);
  });
});

describe('connections', () => {
  // Promise, Bad input, case by case: Slow clients
  it('that never end their headers do not delay other requests, and are closed', async () => {
    const slow = await Promise.all(Array.from({ length: 100 }, connection));
    for (const raw of slow) raw.send('GET /v1/jobs HTTP/1.1\r\nX-Slow: a');
    expect((await ask(get('/v1/jobs', KEY))).status).toBe(200);
    for (const raw of slow) {
      expectError(await raw.next(), 400, 'bad_request');
      await raw.closed;
    }
  });

  it('HTTP/1.0 needs no Host and is closed after its response', async () => {
    const raw = await connection();
    raw.send(`GET /v1/jobs HTTP/1.0\r\n${KEY}\r\n`);
    expect((await raw.next()).status).toBe(200);
    await raw.closed;
  });

  it('pipelined requests receive their responses in order', async () => {
    const raw = await connection();
    raw.send(get('/v1/capabilities') + get('/v1/nope') + get('/v1/jobs') + get('/v1/jobs', KEY));
    const statuses = [];
    for (let left = 4; left > 0; left -= 1) statuses.push((await raw.next()).status);
    expect(statuses).toEqual([200, 404, 401, 200]);
  });

  const parts = (count: number) =>
    Array.from({ length: count }, (_, n) => `--b\r\nContent-Disposition: form-data; name="f${n}"\r\n\r\nx\r\n`).join(
      '',
    );
  const big = 'x'.repeat(3_000_000);
  const form = 'Content-Type: multipart/form-data; boundary=b\r\n';
  const sized = (path: string, headers: string, body: string) =>
    post(path, `${headers}Content-Length: ${body.length}\r\n`, body);
  // Promise, Bad input, case by case: No file, broken multipart, endless part headers
  it.each([
    ['a path that is none', sized('/v1/nope', '', big), 404],
    ['JSON that is too long', sized('/v1/jobs', '', big), 400],
    ['an option that is wrong', sized('/v1/compress?image.quality=x', '', big), 400],
    ['bytes of no supported format', sized('/v1/compress', '', big), 415],
    ['an upload that is not there', sized('/v1/uploads/upl_x/complete', '', big), 404],
    ['10,000 parts', sized('/v1/compress', form, `${parts(10_000)}--b--\r\n`), 400],
    ['a truncated multipart body', sized('/v1/compress', form, parts(3)), 400],
    ['a boundary that is missing in the body', sized('/v1/compress', form, big), 400],
    [
      'chunks that are too many',
      post('/v1/jobs', 'Transfer-Encoding: chunked\r\n', `${big.length.toString(16)}\r\n${big}\r\n0\r\n\r\n`),
      400,
    ],
    [
      'a body where none belongs',
      `GET /v1/jobs HTTP/1.1\r\n${HOST}${KEY}Content-Length: ${big.length}\r\n\r\n${big}`,
      200,
    ],
  ])('after %s the connection serves the next request', async (_what, bytes, status) => {
    const raw = await connection();
    raw.send(bytes);
    expect((await raw.next()).status).toBe(status);
    raw.send(get('/v1/jobs', KEY));
    expect((await raw.next()).status).toBe(200);
  });
});
