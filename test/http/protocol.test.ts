import { request as httpRequest } from 'node:http';
import { connect } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { errorRow, type ErrorCode } from '#crds/contract/error-codes.ts';
import { expectRefusal } from '#test/support/expect-refusal.ts';
import { useService } from '#test/support/use-service.ts';

const { service, live, test, api, makeAccount, newKey } = await useService();

describe('paths and methods', () => {
  // Promise, What the service does: A wrong method is 405 with Allow; an unknown path is 404
  it.each([
    ['GET', '/v1/nope', 404, 'not_found'],
    ['GET', '/v2/jobs', 404, 'not_found'],
    ['GET', '//v1/jobs', 404, 'not_found'],
    ['GET', '/', 404, 'not_found'],
    ['DELETE', '/v1/capabilities', 405, 'bad_request'],
    ['OPTIONS', '/v1/jobs', 405, 'bad_request'],
    ['PUT', '/v1/jobs', 405, 'bad_request'],
    ['HEAD', '/v1/capabilities', 405, null],
  ] as const)('%s %s returns %i without a key', async (method, path, status, code) => {
    const response = await api(method, path, { key: null });
    expect(response.status).toBe(status);
    expect(response.headers['access-control-allow-origin']).toBeUndefined();
    if (code !== null) expectRefusal(response, code, { status });
  });

  // Promise, What the service does: A wrong method is 405 with Allow; an unknown path is 404
  it('names the methods of a path', async () => {
    expect((await api('PATCH', '/v1/jobs', { key: null })).headers['allow']).toBe('POST, GET');
  });

  // Promise, What the service does: A trailing slash is ignored
  it('ignores a trailing slash', async () => {
    expect((await api('GET', '/v1/jobs/')).status).toBe(200);
    expect((await api('GET', '/v1/capabilities/', { key: null })).status).toBe(200);
  });

  it.each([
    ['GET', '/v1/jobs/job_%00'],
    ['DELETE', '/v1/jobs/%00'],
    ['GET', '/v1/jobs/%00/output'],
    ['GET', '/v1/jobs?starting_after=%00'],
    ['PUT', '/v1/uploads/%00/content'],
    ['POST', '/v1/compress?filename=a%00.jpg'],
  ])('refuses the character U+0000 in %s %s', async (method, path) => {
    expectRefusal(await api(method, path, method === 'GET' ? {} : { body: 'x' }), 'bad_request');
  });

  it('treats a dot segment as an id that does not exist', async () => {
    expectRefusal(await api('GET', '/v1/jobs/%2e%2e'), 'not_found');
  });
});

describe('every response', () => {
  // Promise, Conventions and objects: Every response has request id and version
  it('carries request id and version', async () => {
    const response = await api('GET', '/v1/capabilities', { key: null });
    expect(response.headers['svc-request-id']).toMatch(/^req_[0-9a-z]{20}$/);
    expect(response.headers['svc-version']).toBe('2026-10-01');
  });

  // Promise, Bad input, case by case: Versions
  // Promise, Limits and versions: A version that exists, or 400 with the list
  it.each([['2020-01-01'], [''], ['2026-10-01, 2026-10-01']])('refuses the version "%s"', async (version) => {
    const response = await api('GET', '/v1/jobs', { headers: { 'svc-version': version } });
    expectRefusal(response, 'unsupported_version');
    expect(response.json()['error'].message).toContain('2026-10-01');
  });

  // Promise, Limits and versions: A version that exists, or 400 with the list
  it('accepts the version that exists', async () => {
    expect((await api('GET', '/v1/jobs', { headers: { 'svc-version': '2026-10-01' } })).status).toBe(200);
  });

  it('refuses bytes that are not HTTP with the error object', async () => {
    const { hostname, port } = new URL(service.baseUrl);
    const text = await new Promise<string>((resolve, reject) => {
      let received = '';
      const socket = connect({ host: hostname, port: Number(port), ca: service.ca }, () =>
        socket.write('NONSENSE\r\n\r\n'),
      );
      socket.on('data', (chunk) => (received += chunk.toString()));
      socket.on('close', () => resolve(received));
      socket.on('error', reject);
    });
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toContain('"code":"bad_request"');
  });

  it('refuses headers over 16 KiB with the error object', async () => {
    expectRefusal(
      await api('GET', '/v1/capabilities', { key: null, headers: { 'x-big': 'x'.repeat(17_000) } }),
      'bad_request',
    );
  });
});

describe('plain http', () => {
  // Promise, Bad input, case by case: Forged proxy headers, plain http
  // Promise, What the service does: Plain http is refused, and the key recorded as exposed; on the HTTPS port it is refused too
  it('is refused with https_required, and the key is recorded as exposed', async () => {
    const key = await newKey({ mode: 'live' });
    const reply = await new Promise<{ status: number; body: string }>((resolve, reject) => {
      httpRequest(`${service.httpUrl}/v1/jobs`, { headers: { authorization: `Bearer ${key.key}` } }, (response) => {
        let body = '';
        response.on('data', (chunk) => (body += String(chunk)));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
      })
        .on('error', reject)
        .end();
    });
    expect(reply.status).toBe(403);
    expect(JSON.parse(reply.body).error).toMatchObject({ code: 'https_required', type: 'permission_error' });
    await expect
      .poll(
        async () => (await service.query('select exposed_at from api_keys where id = $1', [key.id]))[0]?.['exposed_at'],
      )
      .toBeInstanceOf(Date);
  });
});

describe('keys', () => {
  // Promise, Bad input, case by case: No key, another scheme, key in the query
  // Promise, Authentication: Bearer only: no query, cookie or basic
  it.each([
    ['none', {}],
    ['another scheme', { authorization: 'Basic abc' }],
    ['an empty bearer', { authorization: 'Bearer ' }],
  ])('%s is missing_key', async (_name, headers: Record<string, string>) => {
    const response = await api('GET', '/v1/jobs', { key: null, headers });
    expectRefusal(response, 'missing_key');
    expect(response.headers['ratelimit-limit']).toBeUndefined();
    expect(response.headers['www-authenticate']).toBe('Bearer');
  });

  // Promise, Bad input, case by case: Malformed and unknown keys
  // Promise, Authentication: Malformed, unknown and revoked keys
  it.each([[`svc_live_${'a'.repeat(31)}`], [`svc_live_${'a'.repeat(32)}`], [`svc_prod_${'a'.repeat(32)}`], ['x']])(
    '%s is invalid_key',
    async (key) => {
      expectRefusal(await api('GET', '/v1/jobs', { key }), 'invalid_key');
      const direct = await api('POST', '/v1/compress', { key, body: 'x' });
      expectRefusal(direct, 'invalid_key');
      expect(direct.headers['ratelimit-limit']).toBeUndefined();
    },
  );

  // Promise, Bad input, case by case: Revoked keys
  // Promise, Authentication: Malformed, unknown and revoked keys
  it('a revoked key stops working', async () => {
    const key = await newKey({ mode: 'live' });
    expect((await api('GET', '/v1/jobs', { key: key.key })).status).toBe(200);
    await service.mediactl('key', 'revoke', key.id);
    expectRefusal(await api('GET', '/v1/jobs', { key: key.key }), 'revoked_key');
  });

  // Promise, Bad input, case by case: Address families
  // Promise, Authentication: Allow-list by family, mapped addresses as IPv4, 20 entries, every request
  it.each([
    [['10.0.0.0/8'], 'ip_not_allowed'],
    [['::/0'], 'ip_not_allowed'],
    [['127.0.0.0/8'], null],
    [['10.0.0.0/8', '127.0.0.1'], null],
  ] as const)('the allow-list %j from 127.0.0.1: %s', async (allow, code) => {
    const key = await newKey({ mode: 'live', allow });
    const address = service.baseUrl.replace('localhost', '127.0.0.1');
    const response = await api('GET', `${address}/v1/jobs`, {
      key: key.key,
      headers: { 'x-forwarded-for': '10.1.1.1' },
    });
    if (code === null) expect(response.status).toBe(200);
    else expectRefusal(response, code);
  });

  // Promise, Bad input, case by case: Suspended, unpaid
  // Promise, Authentication: 402 and 403 of the account, in their order
  it.each([
    [['--no-payment-method'], 'no_payment_method'],
    [['--unpaid-invoice'], 'payment_required'],
    [['--suspended'], 'account_suspended'],
  ] as const)('an account with %j refuses its live key: %s', async (setting, code: ErrorCode) => {
    const other = await makeAccount();
    await service.mediactl('account', 'set', other.account, ...setting);
    expectRefusal(await api('GET', '/v1/jobs', { key: other.live }), code);
    const forTest = await api('GET', '/v1/jobs', { key: other.test });
    if (code === 'account_suspended') expectRefusal(forTest, code);
    else expect(forTest.status).toBe(200);
  });

  it('a reached spend cap refuses new work, but not reading', async () => {
    const other = await makeAccount();
    await service.mediactl('account', 'set', other.account, '--spend-cap', '0');
    expectRefusal(await api('POST', '/v1/compress', { key: other.live, body: 'x' }), 'spend_cap_reached');
    expectRefusal(await api('POST', '/v1/jobs', { key: other.live, json: {} }), 'spend_cap_reached');
    expect((await api('GET', '/v1/jobs', { key: other.live })).status).toBe(200);
    expect(errorRow('spend_cap_reached').status).toBe(402);
  });
});

describe('limits', () => {
  // Promise, Bad input, case by case: Rate and concurrency
  // Promise, Limits and versions: Token bucket with exact headers, separate for live and test, on every direct response
  it('refuses the direct request after the burst, with exact headers', async () => {
    const { test: key } = await makeAccount();
    const empty = { key, headers: { 'content-length': '0' } };
    const answers = [];
    for (let sent = 0; sent < 5; sent += 1) answers.push(await api('POST', '/v1/compress', empty));
    const [first, ...rest] = answers;
    expect(first?.headers).toMatchObject({ 'ratelimit-limit': '4', 'ratelimit-remaining': '3' });
    const refused = rest.find(({ status }) => status === 429);
    if (refused === undefined) throw new Error('five requests in a burst of four were all admitted');
    expectRefusal(refused, 'rate_limited');
    expect(refused.headers).toMatchObject({
      'ratelimit-limit': '4',
      'ratelimit-remaining': '0',
      'ratelimit-reset': '1',
    });
  });

  // Promise, Limits and versions: Token bucket with exact headers, separate for live and test, on every direct response
  it('live and test keys have separate buckets', async () => {
    const response = await api('POST', '/v1/compress', { key: live, headers: { 'content-length': '0' } });
    expectRefusal(response, 'missing_file');
    expect(response.headers['ratelimit-limit']).toBe('100');
    const forTest = await api('POST', '/v1/compress', { key: test, headers: { 'content-length': '0' } });
    expect(forTest.headers['ratelimit-limit']).toBe('4');
  });
});

describe('open endpoints', () => {
  // Promise, Conventions and objects: Capabilities, word for word, the same for every caller, cacheable
  it('capabilities are the same for every caller, and cacheable', async () => {
    const response = await api('GET', '/v1/capabilities', { key: null });
    expect(response.headers['cache-control']).toBe('public, max-age=300');
    const body = response.json();
    expect(body).toMatchObject({
      object: 'capabilities',
      standard: 'v1',
      operations: ['compress', 'convert', 'strip_metadata'],
    });
    expect(body['sync']).toEqual({ max_bytes: 26_214_400, kinds: ['image', 'pdf', 'audio', 'table', 'font'] });
    expect(body['compress'].image.inputs).toEqual([
      'jpg',
      'png',
      'webp',
      'avif',
      'heic',
      'gif',
      'tiff',
      'bmp',
      'cr2',
      'nef',
      'arw',
      'dng',
      'orf',
      'rw2',
      'raf',
    ]);
    expect(body['plans'].payg).toEqual({
      requests_per_second: 5,
      concurrent_jobs: 3,
      max_sync_bytes: 26_214_400,
      max_async_bytes: 524_288_000,
      max_video_seconds: 600,
    });
  });

  // Promise, Jobs: `openapi.json` describes all endpoints
  it('openapi.json describes every endpoint', async () => {
    const body = (await api('GET', '/v1/openapi.json', { key: null })).json();
    expect(body['openapi']).toBe('3.1.0');
    expect(Object.keys(body['paths'])).toContain('/v1/jobs/{id}/output');
  });
});
