/** Limits of rate and concurrency, allow-lists and the spend cap, as callers see them. */
import { readFile } from 'node:fs/promises';
import { afterAll, describe, expect, it } from 'vitest';
import type { ApiResponse } from '#test/support/api-client.ts';
import { expectRefusal } from '#test/support/expect-refusal.ts';
import { openRaw, type RawConnection } from '#test/support/raw-connection.ts';
import { useService } from '#test/support/use-service.ts';

const { service, api, makeAccount, newKey } = await useService('scale');
const photo = await readFile(new URL('../../api/data/samples/graphic.png', import.meta.url));

const opened: RawConnection[] = [];
afterAll(() => {
  for (const connection of opened) connection.close();
});

describe('direct requests in progress', () => {
  // Promise, Bad input, case by case: A client that disconnects
  // Promise, Bad input, case by case: Rate and concurrency
  // Promise, Limits and versions: Concurrency before rate, without a token
  it('over the limit are refused, take no token, and are admitted again once one has ended', async () => {
    const { test: key } = await makeAccount('none');
    const head = `POST /v1/compress HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: 100\r\n\r\n`;
    for (let n = 0; n < 2; n += 1) {
      const connection = await openRaw(service);
      opened.push(connection);
      connection.send(`${head}only the beginning`);
    }
    const once = (): Promise<ApiResponse> => api('POST', '/v1/compress', { key, headers: { 'content-length': '0' } });
    let refused = await once();
    await expect
      .poll(async () => {
        if (refused.status !== 429) refused = await once();
        return refused.status;
      })
      .toBe(429);
    const again = await once();
    for (const response of [refused, again]) {
      expectRefusal(response, 'concurrency_limited');
      expect(response.headers).toMatchObject({ 'retry-after': '1', 'ratelimit-limit': '4' });
    }
    expect(Number(again.headers['ratelimit-remaining'])).toBeGreaterThanOrEqual(
      Number(refused.headers['ratelimit-remaining']),
    );
    for (const connection of opened) connection.close();
    await expect
      .poll(async () => (await once()).json()['error'].code, { timeout: 20_000, interval: 1000 })
      .toBe('missing_file');
  });
});

describe('RateLimit headers', () => {
  // Promise, Limits and versions: Token bucket with exact headers, separate for live and test, on every direct response
  it.each([
    ['an unknown option', '/v1/compress?nope=1', 400],
    ['an unknown preset', '/v1/convert?to=png&preset=nope', 400],
    ['a file that is none', '/v1/strip-metadata', 415],
  ])('are in the response to %s', async (_what, path, status) => {
    const response = await api('POST', path, { body: 'hello' });
    expect(response.status).toBe(status);
    expect(response.headers).toMatchObject({
      'ratelimit-limit': '300',
      'ratelimit-remaining': expect.stringMatching(/^\d+$/),
      'ratelimit-reset': expect.stringMatching(/^\d+$/),
    });
  });

  // Promise, Limits and versions: Token bucket with exact headers, separate for live and test, on every direct response
  it('are absent from responses of other endpoints', async () => {
    const response = await api('GET', '/v1/jobs');
    expect(Object.keys(response.headers).filter((name) => name.startsWith('ratelimit'))).toEqual([]);
  });
});

describe('the second bucket', () => {
  // Promise, Bad input, case by case: The second bucket
  // Promise, Limits and versions: The second bucket, without those headers
  it('refuses a test key after a burst of 40, without RateLimit headers', async () => {
    const { test: key } = await makeAccount('scale');
    const answers = await Promise.all(Array.from({ length: 150 }, () => api('GET', '/v1/presets', { key })));
    const refused = answers.find(({ status }) => status === 429);
    if (refused === undefined) throw new Error('150 requests at once were all admitted');
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(40);
    expectRefusal(refused, 'rate_limited');
    expect(Object.keys(refused.headers).filter((name) => name.startsWith('ratelimit'))).toEqual([]);
    const free = await api('GET', '/v1/capabilities', { key });
    expect(free.status).toBe(200);
  });
});

describe('the spend cap', () => {
  // Promise, Bad input, case by case: The cap
  // Promise, Limits and versions: Spend cap: one request under it, running work at its maximum cost, reset by month
  it('admits one request while the month is under it, and none after', async () => {
    const other = await makeAccount('scale');
    await service.mediactl('account', 'set', other.account, '--spend-cap', '0.003');
    const compress = () => api('POST', '/v1/compress', { key: other.live, body: photo });
    expect((await compress()).status).toBe(200);
    expect((await compress()).status).toBe(200);
    expectRefusal(await compress(), 'spend_cap_reached');
    const url = 'https://example.com/a.png';
    expectRefusal(
      await api('POST', '/v1/jobs', { key: other.live, json: { operation: 'compress', input: { url } } }),
      'spend_cap_reached',
    );
    for (const path of ['/v1/jobs', '/v1/usage', '/v1/presets'])
      expect((await api('GET', path, { key: other.live })).status).toBe(200);
    expect((await api('POST', '/v1/uploads', { key: other.live, json: { size: 1 } })).status).toBe(201);
    expect((await api('POST', '/v1/compress', { key: other.test, body: photo })).status).toBe(200);
  }, 180_000);
});

describe('an allow-list', () => {
  // Promise, Authentication: Allow-list by family, mapped addresses as IPv4, 20 entries, every request
  // Promise, Jobs: Signed link: no key, no allow-list, 403 before existence, 404 without output, ranges
  it('applies to every request with the key, and not to a signed link', async () => {
    const key = await newKey({ mode: 'live', allow: ['10.0.0.0/8', '2001:db8::/32'] });
    for (const [method, path] of [
      ['GET', '/v1/jobs'],
      ['POST', '/v1/compress'],
      ['POST', '/v1/uploads'],
      ['PUT', '/v1/uploads/upl_x/content'],
      ['GET', '/v1/usage'],
    ] as const) {
      expectRefusal(
        await api(method, path, { key: key.key, ...(method === 'GET' ? {} : { body: 'x' }) }),
        'ip_not_allowed',
      );
    }
    const link = await api('GET', '/v1/jobs/job_00000000000000000000/output?expires=1&signature=x', { key: key.key });
    expectRefusal(link, 'invalid_signature');
  });
});
