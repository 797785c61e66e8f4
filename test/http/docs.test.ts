import { gunzipSync } from 'node:zlib';
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
    for (const code of Object.keys(ERROR_CODES)) expect(html).toContain(`<h2 id="${code}" `);
    expect(html).toContain('<table ');
  });

  it('is HTML that loads and runs only what the service has, and may be cached', async () => {
    const { headers } = await api('GET', '/docs/reference/errors', open);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'public, max-age=300',
      'x-content-type-options': 'nosniff',
    });
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'self' 'sha256-\S+'; script-src 'self'( 'sha256-\S+')+; connect-src 'self'; img-src 'self' data:; base-uri 'none';/,
    );
    expect(headers['svc-request-id']).toMatch(/^req_/);
  });

  it('has no dead link and no style that its content policy refuses on any page', async () => {
    const list = (await api('GET', '/docs/llms.txt', open)).bytes.toString('utf8');
    const pages = [...list.matchAll(/\]\((\S+)\)/g)].map(([, page = '']) => page);
    expect(pages).toEqual(expect.arrayContaining(['/docs/', '/docs/reference/errors', '/docs/guides/large-files']));
    const html = new Map<string, string>();
    for (const page of pages) html.set(page, (await api('GET', page, open)).bytes.toString('utf8'));
    const links = [...html.values()].flatMap((text) =>
      [...text.matchAll(/ (?:href|src)="(\/[^"]*)"/g)].map(([, href = '']) => href),
    );
    expect(links.length).toBeGreaterThan(500);
    const dead = [];
    for (const address of new Set(links.map((href) => href.replace(/#.*/, ''))))
      if (!html.has(address) && (await api('GET', address, open)).status !== 200) dead.push(address);
    expect(dead).toEqual([]);
    for (const text of html.values()) expect(text).not.toMatch(/<[^>]+ style=/);
    const anchors = new Set(links.filter((href) => href.includes('#')));
    const missing = [...anchors].filter((href) => {
      const [page = '', anchor = ''] = href.split('#');
      return !(html.get(page) ?? html.get(`${page}/`))?.includes(`id="${decodeURIComponent(anchor)}"`);
    });
    expect(missing).toEqual([]);
  });

  it('names tabs by their position, so that each build of the site writes the same bytes', async () => {
    const html = (await api('GET', '/docs/', open)).bytes.toString('utf8');
    const names = [...html.matchAll(/<input type="radio" name="([^"]+)" id="([^"]+)"/g)].flatMap(([, ...two]) => two);
    expect(names.length).toBeGreaterThan(2);
    for (const name of names) expect(name).toMatch(/^(group|tab)-\d+-\d+$/);
  });

  it('has the licences of the packages whose code is in its pages', async () => {
    const text = (await api('GET', '/docs/third-party.txt', open)).bytes.toString('utf8');
    const lines = text.split('\n\n')[0]?.split('\n') ?? [];
    expect(lines).toContainEqual(expect.stringMatching(/^vitepress \S+ MIT$/));
    expect(lines).toContainEqual(expect.stringMatching(/^@vue\/runtime-dom \S+ MIT$/));
    for (const line of lines) expect(text).toContain(`\n--- ${line.split(' ')[0]}\n\n`);
  });

  it('keeps files whose name changes with their content for a year', async () => {
    const page = (await api('GET', '/docs', open)).bytes.toString('utf8');
    const script = / href="(\/docs\/assets\/app\.[^"]+\.js)"/.exec(page)?.[1] ?? '';
    const { status, headers } = await api('GET', script, open);
    expect([status, headers['content-type']]).toEqual([200, 'text/javascript; charset=utf-8']);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
  });

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

  it('is compressed for browsers that accept it, with an ETag of its own', async () => {
    const whole = await api('GET', '/docs/reference/errors', open);
    const headers = { 'accept-encoding': 'br;q=1.0, gzip' };
    const zipped = await api('GET', '/docs/reference/errors', { ...open, headers });
    expect(zipped.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    expect(gunzipSync(zipped.bytes).equals(whole.bytes)).toBe(true);
    expect(zipped.headers['etag']).not.toBe(whole.headers['etag']);
    const known = { ...headers, 'if-none-match': String(zipped.headers['etag']) };
    expect((await api('GET', '/docs/reference/errors', { ...open, headers: known })).status).toBe(304);
    const photo = await api('GET', '/docs/samples/photo.jpg', { ...open, headers });
    expect(photo.headers['content-encoding']).toBeUndefined();
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

  it('lets search engines list this page and the documentation, and nothing else', async () => {
    const { status, headers, bytes } = await api('GET', '/robots.txt', open);
    expect([status, headers['content-type']]).toStrictEqual([200, 'text/plain; charset=utf-8']);
    expect(bytes.toString('utf8')).toBe('User-agent: *\nAllow: /$\nAllow: /docs\nDisallow: /\n');
  });

  it('is no endpoint for programs', async () => {
    const root = await api('GET', '/', open);
    expectRefusal(root, 'not_found');
    expect((root.json() as { error: { message: string } }).error.message).toMatch(
      /^The API is below \/v1; its documentation is at https:\S+\/docs\.$/,
    );
    expectRefusal(await api('POST', '/', { ...open, headers: { accept: 'text/html' } }), 'not_found');
  });
});
