import { describe, expect, it } from 'vitest';
import { ERROR_CODES } from '#crds/contract/error-codes.ts';
import { expectRefusal } from '#test/support/expect-refusal.ts';
import { useService } from '#test/support/use-service.ts';

const { service, api } = await useService();
const open = { key: null };

describe('the documentation', () => {
  // Promise, Conventions and objects: Error object: type, code, message, param, request id, link to a page that exists
  it('is the target of doc_url, with an anchor for every code', async () => {
    const { error } = (await api('GET', '/v1/jobs', open)).json() as { error: { doc_url: string } };
    const [page = '', anchor] = error.doc_url.split('#');
    expect(page).toBe(`${service.baseUrl}/docs/reference/errors`);
    expect(anchor).toBe('missing_key');
    const response = await api('GET', page, open);
    expect(response.status).toBe(200);
    const html = response.bytes.toString('utf8');
    for (const code of Object.keys(ERROR_CODES)) expect(html).toContain(`<h2 id="${code}">`);
    expect(html).toContain('<table>');
  });

  it('is HTML that loads nothing but its style sheet, and may be cached', async () => {
    const { headers } = await api('GET', '/docs/reference/errors', open);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'public, max-age=300',
      'x-content-type-options': 'nosniff',
    });
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'self';/);
    expect(headers['svc-request-id']).toMatch(/^req_/);
  });

  it.each(['/docs', '/docs/', '/docs/reference/errors', '/docs/reference/formats', '/docs/reference/receipts'])(
    'has no dead link on %s',
    async (page) => {
      const html = (await api('GET', page, open)).bytes.toString('utf8');
      const links = [...html.matchAll(/ href="([^"#]+)[^"]*"/g)].map(([, href = '']) => href);
      expect(links).toContain('/docs/style.css');
      for (const link of new Set(links))
        expect([link, (await api('GET', link, open)).status]).toStrictEqual([link, 200]);
    },
  );

  it('responds to HEAD as to GET without a body, and to a known ETag with 304', async () => {
    const whole = await api('GET', '/docs/style.css', open);
    const head = await api('HEAD', '/docs/style.css', open);
    expect([head.status, head.bytes.length, head.headers['content-length']]).toStrictEqual([
      200,
      0,
      String(whole.bytes.length),
    ]);
    expect(whole.headers['content-type']).toBe('text/css; charset=utf-8');
    const again = await api('GET', '/docs/style.css', {
      ...open,
      headers: { 'if-none-match': String(whole.headers['etag']) },
    });
    expect([again.status, again.bytes.length]).toStrictEqual([304, 0]);
  });

  it.each([
    '/docs/nothing',
    '/docs/../package.json',
    '/docs/..%2Fpackage.json',
    '/docs/reference/errors.md',
    '/docs/__proto__',
    '/document',
  ])('has no page at %s', async (path) => expectRefusal(await api('GET', path, open), 'not_found'));

  it.each(['/docs/nothing', '/docs/reference/errors.md'])('shows browsers a page of links at %s', async (path) => {
    const response = await api('GET', path, { ...open, headers: { accept: 'text/html,*/*;q=0.8' } });
    expect(response.status).toBe(404);
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(response.bytes.toString('utf8')).toContain('<a href="/docs">');
  });

  it('refuses other methods', async () => {
    const response = await api('POST', '/docs/reference/errors', { ...open, body: 'x'.repeat(100_000) });
    expectRefusal(response, 'bad_request', { status: 405 });
    expect(response.headers['allow']).toBe('GET, HEAD');
  });
});

describe('the address of the service', () => {
  it('leads browsers to documentation and dashboard, with links that work', async () => {
    const response = await api('GET', '/', { ...open, headers: { accept: 'text/html' } });
    expect([response.status, response.headers['content-type']]).toStrictEqual([200, 'text/html; charset=utf-8']);
    expect(response.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'self';/);
    const links = [...response.bytes.toString('utf8').matchAll(/ href="([^"#]+)"/g)].map(([, href = '']) => href);
    expect(links).toEqual(expect.arrayContaining([`${service.baseUrl}/docs`, `${service.baseUrl}/dashboard`]));
    for (const link of links) expect([link, (await api('GET', link, open)).status < 400]).toStrictEqual([link, true]);
  });

  it('is no endpoint for programs', async () => {
    expectRefusal(await api('GET', '/', open), 'not_found');
    expectRefusal(await api('POST', '/', { ...open, headers: { accept: 'text/html' } }), 'not_found');
  });
});
