/** Pages of an installation whose name has characters that HTML, JSON and Markdown treat specially. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { SESSION_COOKIE } from '#api/dashboard/cookies.ts';
import { SITE_NAME } from '#api/docs/site-base.ts';
import { startSession } from '#api/users/session.ts';
import { makeApiClient } from '#test/support/api-client.ts';
import { makeDashboardClient } from '#test/support/dashboard-client.ts';
import { startInProcessApi } from '#test/support/in-process-api.ts';
import { addPerson } from '#test/support/people.ts';

const NAME = String.raw`Müller & "Söhne" <*Medien*> \1`;
const IN_HTML = String.raw`Müller &amp; &quot;Söhne&quot; &lt;*Medien*&gt; \1`;

const service = await startInProcessApi({ name: NAME });
const api = makeApiClient(service);
const dashboard = makeDashboardClient(service);
afterAll(() => Promise.all([api.close(), dashboard.close()]));

const page = async (path: string): Promise<string> =>
  (await api('GET', path, { headers: { accept: 'text/html' } })).bytes.toString('utf8');
const titleOf = (html: string): string => /<title>(.*)<\/title>/.exec(html)?.[1] ?? '';

describe('the name of the installation', () => {
  it.each(['/', '/docs', '/docs/reference/errors', '/docs/nothing', '/dashboard/sign-in'])(
    'is in the title and the header of %s',
    async (path) => {
      const html = await page(path);
      expect(titleOf(html).endsWith(IN_HTML)).toBe(true);
      expect(/<header[\s\S]*<\/header>/.exec(html)?.[0]).toContain(IN_HTML);
    },
  );

  it('is in what the scripts of the documentation show, which is not kept beyond a change of the name', async () => {
    const script = / href="(\/docs\/assets\/chunks\/metadata\.[^"]+)"/.exec(await page('/docs'))?.[1] ?? '';
    const { bytes, headers } = await api('GET', script);
    const [, data = ''] = /__VP_SITE_DATA__=JSON\.parse\((".*")\);/.exec(bytes.toString('utf8')) ?? [];
    expect(JSON.parse(JSON.parse(data) as string)).toMatchObject({ title: NAME });
    expect(headers['cache-control']).toBe('public, max-age=300');
  });

  it('replaces the name of the build on every page', async () => {
    const list = await page('/docs/llms.txt');
    expect(list.startsWith(`# ${NAME}\n`)).toBe(true);
    for (const [, path = ''] of list.matchAll(/\]\((\S+)\)/g)) expect(await page(path)).not.toContain(SITE_NAME);
  });
});

describe('a page of an account', () => {
  beforeAll(async () => {
    const { deps, accountId } = service;
    const membership = { accountId, role: 'owner' } as const;
    const user = await addPerson(deps, { email: 'owner@example.com', membership });
    const caller = { address: '127.0.0.1', agent: 'test' };
    dashboard.cookies.set(SESSION_COOKIE, await startSession(deps, { caller, input: { user, how: 'password' } }));
  });

  it.each(['', '/plan', '/keys'])('reads the spending of the month once: %s', async (below) => {
    const { database, accountId } = service;
    const query = vi.spyOn(database, 'query');
    const { status } = await dashboard.get(`/accounts/${accountId}${below}`);
    const statements = query.mock.calls.map(([statement]) => JSON.stringify(statement));
    query.mockRestore();
    expect(status).toBe(200);
    expect(statements.filter((statement) => statement.includes('monthly_spend'))).toHaveLength(1);
  });
});
