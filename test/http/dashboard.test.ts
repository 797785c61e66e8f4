import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeLink } from '#api/users/one-time-link.ts';
import { acceptInvitation } from '#api/users/accept-invitation.ts';
import { openService } from '#api/mediactl/open-service.ts';
import type { Role } from '#api/users/user.ts';
import { makeDashboardClient, tokenOf, type DashboardClient } from '#test/support/dashboard-client.ts';
import { makeApiClient } from '#test/support/api-client.ts';
import { freshFolder, paste, trust } from '#test/support/documented-examples.ts';
import { addPerson, invite } from '#test/support/people.ts';
import { runJob, upload } from '#test/support/run-through.ts';
import { OPERATOR_PAGES } from '#test/support/operator-pages.ts';
import { useService } from '#test/support/use-service.ts';

const { service, account, api, makeAccount, test } = await useService('growth');
const other = await makeAccount();
const inside = await openService({ data: service.data, env: {} });
const clients: DashboardClient[] = [];
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await inside.database.close();
});

let invited = 0;

function stranger(): DashboardClient {
  const client = makeDashboardClient(service);
  clients.push(client);
  return client;
}

/** Signs a person in. With the role null the person is only an operator. */
async function somebody(role: Role | null = 'owner', operator = false) {
  invited += 1;
  const membership = role === null ? null : { accountId: account, role };
  const email = `person-${invited}@dashboard.example`;
  const user = await addPerson(inside, { email, membership, operator });
  const { path } = await makeLink(inside.database, { userId: user.id, purpose: 'sign_in', at: new Date() });
  const client = stranger();
  const response = await client.post(path, {}, path);
  expect(response.status).toBe(303);
  return { ...client, email, user };
}

/** Adds the tests' owner as an owner of another account. */
async function join(accountId: string): Promise<void> {
  const token = await invite(inside, { email: owner.email, membership: { accountId, role: 'owner' } });
  await acceptInvitation(inside, {
    caller: { address: '127.0.0.1' },
    input: { token, acceptance: { userId: owner.user.id } },
  });
}

const owner = await somebody();
const developer = await somebody('developer');
const reader = await somebody('read_only');
const operator = await somebody(null, true);
const base = `/accounts/${account}`;
const ESCAPED = '&lt;img src=x onerror=alert(1)&gt;';
const SCRIPT = '<img src=x onerror=alert(1)>';

describe('every page', () => {
  it.each(['/sign-in', `${base}/keys`, '/nowhere'])(
    '%s carries the policy that keeps scripts of others out',
    async (path) => {
      const { headers } = await owner.get(path);
      expect(headers['content-security-policy']).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      );
      expect(headers).toMatchObject({ 'referrer-policy': 'same-origin', 'cache-control': 'no-store' });
    },
  );

  it('contains no inline script and no inline style, and is under 150 kB with everything that it loads', async () => {
    const style = /href="\/dashboard(\/assets\/[^"]+)"/.exec((await owner.get('/profile')).text)?.[1] ?? '';
    const script = /src="\/dashboard(\/assets\/[^"]+)"/.exec((await owner.get('/profile')).text)?.[1] ?? '';
    const further = script.replace('dashboard.js', 'playground.js');
    const files = await Promise.all([style, script, further].map((file) => owner.get(file)));
    const loaded = files.reduce((sum, { text }) => sum + text.length, 0);
    for (const path of [
      '/profile',
      base,
      `${base}/keys`,
      `${base}/playground`,
      `${base}/presets`,
      `${base}/samples`,
      `${base}/plan`,
      `${base}/usage`,
    ]) {
      const { text } = await owner.get(path);
      expect(text).not.toMatch(/<script(?! src="\/dashboard\/assets\/)|<style| style=| on[a-z]+="/);
      expect(text.length + loaded).toBeLessThan(150_000);
    }
  });

  it('needs a sign-in, and returns to the requested page', async () => {
    const response = await stranger().get(`${base}/keys?x=1`);
    expect(response).toMatchObject({
      status: 303,
      to: `/sign-in?ended=false&next=${encodeURIComponent(`${base}/keys?x=1`)}`,
    });
    const page = await stranger().get('/sign-in?next=//evil.example/');
    expect(page.text).toContain('name="next" value="/"');
  });

  it('is not below /v1 and accepts GET and POST only', async () => {
    expect((await api('GET', '/v1/dashboard')).status).toBe(404);
    const put = await api('PUT', '/dashboard/sign-in', { key: null });
    expect(put).toMatchObject({ status: 405, headers: { allow: 'GET, POST' } });
  });

  it('has no page at a path that is unknown, incomplete or contains U+0000, and finds one with an encoded name', async () => {
    for (const path of ['/nowhere', '/accounts', '/accounts//keys', '/links/%00', '/keys', '/assets/none'])
      expect([path, (await owner.get(path)).status]).toEqual([path, 404]);
    expect((await owner.get(`/accounts/${account.replace('_', '%5f')}/jobs`)).status).toBe(200);
    expect((await owner.get(`${base}/jobs/live`)).status).toBe(200);
    expect((await owner.get(`${base}/jobs/`)).status).toBe(200);
  });
});

describe('a session', () => {
  it('is a cookie for this host, over https, inaccessible to scripts', async () => {
    const { path } = await makeLink(inside.database, { userId: reader.user.id, purpose: 'sign_in', at: new Date() });
    const client = stranger();
    const response = await client.post(path, {}, path);
    expect([response.headers['set-cookie']].flat().join()).toMatch(
      /^__Host-mediajobs_session=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
    );
  });

  it('ends with sign-out, when it is revoked, after an idle hour and after twelve hours', async () => {
    const person = await somebody();
    const cookie = new Map(person.cookies);
    await person.post('/sign-out', {}, '/profile');
    for (const [name, value] of cookie) person.cookies.set(name, value);
    expect(await person.get('/profile')).toMatchObject({ status: 303 });
    for (const change of [
      "seen_at = seen_at - interval '61 minutes'",
      "expires_at = expires_at - interval '12 hours'",
    ]) {
      const late = await somebody();
      expect((await late.get('/profile')).status).toBe(200);
      await service.query(`update user_sessions set ${change} where user_id = $1`, [late.user.id]);
      expect((await late.get('/profile')).status).toBe(303);
    }
    const late = await somebody();
    const token = tokenOf((await late.get(`${base}/keys`)).text);
    await service.query('delete from user_sessions where user_id = $1', [late.user.id]);
    const posted = await late.post(`${base}/keys`, { name: 'late', mode: 'test' }, '', { formToken: token });
    expect(posted).toMatchObject({ status: 303, to: '/sign-in?ended=true' });
    expect((await late.get('/sign-in?ended=true')).text).toContain('nothing was changed');
  });

  it('is stored as a hash only', async () => {
    const token = owner.cookies.get('__Host-mediajobs_session') ?? '';
    const rows = await service.query('select row_to_json(s)::text as text from user_sessions as s');
    expect(JSON.stringify(rows)).not.toContain(token);
  });
});

describe('signing in', () => {
  it('has the same message for a wrong password and an unknown address, and stops after five attempts', async () => {
    const client = stranger();
    for (let tries = 0; tries < 5; tries += 1) {
      const response = await client.post(
        '/sign-in',
        { email: 'nobody@dashboard.example', password: 'guess' },
        '/sign-in',
      );
      expect(response.status).toBe(401);
      expect(response.text).toContain('The e-mail address or the password is wrong.');
      expect(response.text).toContain('value="nobody@dashboard.example"');
      expect(response.text).not.toContain('guess"');
    }
    const sixth = await client.post('/sign-in', { email: 'nobody@dashboard.example', password: 'guess' }, '/sign-in');
    expect(sixth.status).toBe(429);
    const wrong = await client.post('/sign-in', { email: owner.email, password: 'guess' }, '/sign-in');
    expect(wrong.text).toContain('The e-mail address or the password is wrong.');
  });

  it('accepts a link once, and opening it does not use it', async () => {
    const { path } = await makeLink(inside.database, { userId: reader.user.id, purpose: 'sign_in', at: new Date() });
    const [first, second] = [stranger(), stranger()];
    await first.get(path);
    const page = await second.get(path);
    expect((await first.post(path, {}, path)).status).toBe(303);
    const late = await second.post(path, {}, '', { formToken: tokenOf(page.text) });
    expect(late.status).toBe(404);
  });
});

describe('a forged form', () => {
  it.each([
    ['without a token', { formToken: null }],
    ['with the token of another browser', { formToken: 'A'.repeat(43) }],
    ['from another site', { headers: { 'sec-fetch-site': 'cross-site' } }],
    ['of another origin', { headers: { origin: 'https://evil.example' } }],
  ])('%s is refused and changes nothing', async (_what, how) => {
    const before = await service.query('select count(*) as count from api_keys where account_id = $1', [account]);
    const response = await owner.post(`${base}/keys`, { name: 'forged', mode: 'live' }, `${base}/keys`, how);
    expect(response.status).toBe(403);
    expect(response.text).toContain('Nothing was changed');
    expect(await service.query('select count(*) as count from api_keys where account_id = $1', [account])).toEqual(
      before,
    );
  });

  it('over 64 KB is refused', async () => {
    const response = await owner.post(`${base}/presets`, { name: 'x', options: 'x'.repeat(70_000) }, `${base}/presets`);
    expect(response.status).toBe(413);
  });
});

describe('roles', () => {
  it.each([
    ['a reader', reader, `${base}/keys`, { name: 'mine', mode: 'test' }],
    ['a reader', reader, `${base}/webhooks`, { url: 'https://hooks.example.com/' }],
    ['a reader', reader, `${base}/presets`, { name: 'p', options: '{"image":{"quality":5}}' }],
    ['a developer', developer, `${base}/plan/spend-cap`, { spend_cap_usd: '1' }],
    ['a developer', developer, `${base}/members`, { email: 'friend@dashboard.example', role: 'owner' }],
    ['an operator who is not a member', operator, `${base}/keys`, { name: 'mine', mode: 'test' }],
  ])('refuse %s the actions that their role does not permit', async (_who, client, path, fields) => {
    const response = await client.post(path, fields, '/profile');
    expect(response.status).toBe(403);
    expect(response.text).toContain('Only ');
  });

  it('show readers no button for actions that they may not take', async () => {
    for (const page of ['keys', 'webhooks', 'presets', 'members', 'plan']) {
      const { text } = await reader.get(`${base}/${page}`);
      expect(text.match(/<form method="post"/g)).toHaveLength(1);
    }
  });

  it('show the installation to operators only', async () => {
    for (const page of [...OPERATOR_PAGES, `/accounts/${account}`]) {
      expect((await owner.get(`/operator${page}`)).status).toBe(404);
      expect((await operator.get(`/operator${page}`)).status).toBe(200);
    }
    expect((await owner.post(`/operator/accounts/${account}`, { plan: 'scale' }, '/profile')).status).toBe(404);
  });

  it("let operators open each account's jobs without their files", async () => {
    const { account: foreign, live } = await makeAccount();
    const client = makeApiClient(service, live);
    const input = { bytes: Buffer.from('a,b\n1,2\n'), filename: 'salaries.csv' };
    const succeeded = await runJob(client, input, { operation: 'convert', options: { convert: { to: 'json' } } });
    await client.close();
    const failed = 'job_openedbyoperator0001';
    await service.query(
      `insert into jobs (id, account_id, livemode, operation, status, created_at, completed_at, input_key, input_stored,
         input_filename, options, limits, features, retention_seconds, metadata, error)
       select $1, account_id, true, operation, 'failed', now(), now(), '', true, 'a.csv', options, limits, features, 3600,
         '{}', '{"code":"limit_exceeded","message":"m","type":"processing_error"}' from jobs where id = $2`,
      [failed, succeeded['id']],
    );
    await service.query(
      `insert into ledger (source_id, account_id, livemode, day, operation, kind, meter, quantity, amount_micro_usd, input_bytes, output_bytes, at)
       values ($1, $2, true, current_date, 'convert', 'table', 'unbilled', 0, 0, 0, 0, now())`,
      [failed, foreign],
    );
    const page = `/accounts/${foreign}/jobs/${failed}`;
    const link = `href="/dashboard${page}"`;
    expect((await operator.get('/operator/jobs')).text).toContain(link);
    expect((await operator.get('/operator/jobs?code=limit_exceeded')).text).toContain(link);
    expect((await operator.get('/operator/jobs?code=encrypted_pdf')).text).not.toContain(link);
    expect((await operator.get('/operator/jobs?state=unfinished')).text).not.toContain(link);
    expect((await operator.get('/operator/failures')).text).toContain('/operator/jobs?code=limit_exceeded');
    expect((await operator.get(`/operator/jobs?id=${failed}`)).to).toBe(page);
    expect((await operator.get('/operator/jobs?id=job_none')).status).toBe(404);
    expect((await operator.get(page)).text).toContain('What <code>limit_exceeded</code> means');
    const record = await operator.get(`/accounts/${foreign}/jobs/${String(succeeded['id'])}`);
    expect(record.status).toBe(200);
    expect(record.text).not.toContain('/output?');
    expect(record.text).toContain('Only members of the account are shown the link to the result.');
    expect((await owner.get(page)).status).toBe(404);
  });

  it("keep an account from losing its last owner, and show an invitation's link once", async () => {
    const single = await makeAccount();
    const alone = await addPerson(inside, {
      email: 'alone@dashboard.example',
      membership: { accountId: single.account, role: 'owner' },
    });
    const { path } = await makeLink(inside.database, { userId: alone.id, purpose: 'sign_in', at: new Date() });
    const client = stranger();
    await client.post(path, {}, path);
    const members = `/accounts/${single.account}/members`;
    const left = await client.post(`${members}/${alone.id}`, { role: 'read_only' }, members);
    expect(left).toMatchObject({ status: 409 });
    expect(left.text).toContain('The account needs an owner');
    await client.post(members, { email: 'new@dashboard.example', role: 'read_only' }, members);
    expect((await client.get(members)).text).toContain('/links/');
    expect((await client.get(members)).text).not.toContain('/links/');
  });
});

describe("another account's objects", () => {
  it('are not found', async () => {
    const theirs = (await service.query('select id from api_keys where account_id = $1', [other.account]))[0]?.['id'];
    const made = await api('POST', '/v1/webhook_endpoints', {
      key: other.live,
      json: { url: 'https://hooks.example.com/' },
    });
    const endpoint = String(made.json()['id']);
    const preset = await api('POST', '/v1/presets', {
      key: other.live,
      json: { name: 'theirs', options: { image: { quality: 9 } } },
    });
    const job = await theirJob();
    expect((await owner.get(`/accounts/${other.account}`)).status).toBe(404);
    expect((await owner.get(`/accounts/${other.account}/keys`)).status).toBe(404);
    for (const path of [
      `jobs/${job}`,
      `jobs/${job}/receipt.json`,
      `webhooks/${endpoint}`,
      'deliveries/evt_00000000000000000000',
    ])
      expect((await owner.get(`${base}/${path}`)).status).toBe(404);
    for (const path of [
      `keys/${String(theirs)}/revoke`,
      `jobs/${job}/delete`,
      `webhooks/${endpoint}/rotate`,
      `webhooks/${endpoint}/delete`,
      `presets/${String(preset.json()['id'])}/delete`,
    ])
      expect((await owner.post(`${base}/${path}`, {}, '/profile')).status).toBe(404);
    const followed = await owner.get(`${base}/jobs/live?ids=${job}`);
    expect(followed.text).not.toContain('data: {"id"');
    expect((await api('GET', '/v1/usage', { key: other.live })).status).toBe(200);
    expect((await api('GET', '/v1/webhook_endpoints', { key: other.live })).json()['data']).toHaveLength(1);
  });

  async function theirJob(): Promise<string> {
    const bytes = Buffer.from('a,b\n1,2\n');
    const created = await api('POST', '/v1/uploads', {
      key: other.live,
      json: { size: bytes.length, filename: 't.csv' },
    });
    const { id, url } = created.json() as { id: string; url: string };
    await api('PUT', url, { key: other.live, body: bytes });
    const json = { operation: 'convert', input: { upload: id }, options: { convert: { to: 'json' } } };
    return String((await api('POST', '/v1/jobs', { key: other.live, json })).json()['id']);
  }
});

describe('a key', () => {
  // Promise, Settled where the interface leaves it open: Keys, allow-lists, caps and one-time secrets in the dashboard
  it('is shown once, never in an address, and works until it is revoked', async () => {
    const made = await owner.post(`${base}/keys`, { name: SCRIPT, mode: 'live', allow_list: '' }, `${base}/keys`);
    expect(made).toMatchObject({ status: 303, to: `${base}/keys` });
    const shown = await owner.get(`${base}/keys`);
    const key = /svc_live_[A-Za-z0-9]{32}/.exec(shown.text)?.[0] ?? '';
    expect(key).not.toBe('');
    expect((await owner.get(`${base}/keys`)).text).not.toContain(key);
    expect(shown.text).toContain(ESCAPED);
    expect(shown.text).not.toContain(SCRIPT);
    expect((await api('GET', '/v1/presets', { key })).status).toBe(200);
    const id = /\/keys\/(key_[0-9a-z]+)\/revoke/.exec(shown.text.slice(shown.text.indexOf(ESCAPED)))?.[1] ?? '';
    await owner.post(`${base}/keys/${id}/revoke`, {}, `${base}/keys`);
    expect((await api('GET', '/v1/presets', { key })).json()).toMatchObject({ error: { code: 'revoked_key' } });
    const rows = await service.query('select row_to_json(s)::text as text from user_sessions as s');
    expect(JSON.stringify(rows)).not.toContain(key);
  });

  // Promise, Settled where the interface leaves it open: Keys, allow-lists, caps and one-time secrets in the dashboard
  it.each([
    ['name', { name: '', mode: 'test' }, 'The name has 0 characters'],
    ['name', { name: 'x'.repeat(61), mode: 'test' }, 'The name has 61 characters'],
    ['mode', { name: 'kept-name', mode: 'both' }, 'Choose live or test.'],
    ['allow_list', { name: 'kept-name', mode: 'live', allow_list: '10.0.0.0/8\nnonsense' }, 'nonsense'],
    [
      'allow_list',
      {
        name: 'kept-name',
        mode: 'live',
        allow_list: Array.from({ length: 21 }, (_, at) => `192.0.2.${at}`).join('\n'),
      },
      'The allow-list has 21 entries',
    ],
  ])('is refused beside the field %s, with what was typed', async (field, fields, problem) => {
    const response = await owner.post(`${base}/keys`, fields, `${base}/keys`);
    expect(response.status).toBe(400);
    const beside = new RegExp(`id="p-${field}">([^<]|<(?!/p))*`).exec(response.text)?.[0] ?? '';
    expect(beside).toContain(problem);
    expect(response.text).toMatch(new RegExp(`id="f-${field}"[^>]*aria-invalid="true"`));
    if (fields.name === 'kept-name') expect(response.text).toContain('value="kept-name"');
    if ('allow_list' in fields) expect(response.text).toContain(fields.allow_list);
  });

  // Promise, Settled where the interface leaves it open: Keys, allow-lists, caps and one-time secrets in the dashboard
  it('is refused when twenty are active', async () => {
    const full = await makeAccount();
    await join(full.account);
    const path = `/accounts/${full.account}/keys`;
    await service.query(
      `insert into api_keys (id, account_id, livemode, name, digest, hint, created_at)
       select 'key_full' || $1 || n, $1, false, 'n', sha256(($1 || n)::bytea), 'svc_test_…abcd', now() from generate_series(1, 18) as n`,
      [full.account],
    );
    const response = await owner.post(path, { name: 'the 21st', mode: 'test' }, path);
    expect(response.status).toBe(400);
    expect(response.text).toContain('it may have 20 at most');
  });
});

describe('forms of an account', () => {
  it.each([
    ['plan/spend-cap', 'plan', { spend_cap_usd: '-1' }, 'spend_cap_usd'],
    ['plan/spend-cap', 'plan', { spend_cap_usd: '1e3' }, 'spend_cap_usd'],
    ['presets', 'presets', { name: 'Bad Name', options: '{"image":{"quality":5}}' }, 'name'],
    ['presets', 'presets', { name: 'good', options: '{"image":{"quality":500}}' }, 'options'],
    ['presets', 'presets', { name: 'good', options: '{' }, 'options'],
    ['presets', 'presets', { name: 'good', options: '{}' }, 'options'],
    ['webhooks', 'webhooks', { url: 'http://hooks.example.com/' }, 'url'],
    ['webhooks', 'webhooks', { url: 'https://10.0.0.1/' }, 'url'],
    ['members', 'members', { email: 'no address', role: 'owner' }, 'email'],
    ['members', 'members', { email: 'a@b.example', role: 'king' }, 'role'],
    ['receipts', 'receipts', { receipt: 'eyJ.eyJ.sig' }, 'receipt'],
  ])('%s shows a message beside the field: %s %o', async (path, page, fields, field) => {
    const response = await owner.post(`${base}/${path}`, fields, `${base}/${page}`);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.status).toBeLessThan(500);
    expect(response.text).toContain(`id="p-${field}"`);
    expect(response.text).toMatch(new RegExp(`id="f-${field}"[^>]*aria-invalid="true"`));
  });

  // Promise, Settled where the interface leaves it open: Keys, allow-lists, caps and one-time secrets in the dashboard
  it('make the change that their label names', async () => {
    await owner.post(`${base}/plan/spend-cap`, { spend_cap_usd: '12.5' }, `${base}/plan`);
    expect((await owner.get(`${base}/plan`)).text).toContain('value="12.5"');
    expect(await service.query('select spend_cap_micro_usd as cap from accounts where id = $1', [account])).toEqual([
      { cap: 12_500_000 },
    ]);
    await owner.post(`${base}/plan/spend-cap`, { spend_cap_usd: '' }, `${base}/plan`);
    await developer.post(`${base}/presets`, { name: 'web', options: '{"image":{"format":"webp"}}' }, `${base}/presets`);
    expect((await api('GET', '/v1/presets/web')).json()).toMatchObject({ options: { image: { format: 'webp' } } });
  });

  it('are recorded with person, time and address', async () => {
    const { text } = await owner.get(`${base}/activity`);
    for (const word of ['saved the preset', 'set the spend cap to', developer.email, owner.email, '127.0.0.1'])
      expect(text).toContain(word);
  });

  it('are recorded with the address of the caller who made them with a key, and with that of mediactl', async () => {
    await api('POST', '/v1/presets', { json: { name: 'by-key', options: { image: { quality: 60 } } } });
    const rows = (await owner.get(`${base}/activity`)).text.split('<tr>');
    expect(rows.find((row) => row.includes('by-key'))).toMatch(/API key[^]*(127\.0\.0\.1|::1)/);
    expect(rows.find((row) => row.includes('created the account'))).toContain('on this machine (mediactl)');
  });

  it('link to no endpoint that was deleted', async () => {
    const created = await api('POST', '/v1/webhook_endpoints', { json: { url: 'https://receiver.invalid/' } });
    const id = String(created.json()['id']);
    expect((await owner.get(`${base}/activity`)).text).toContain(`${base}/webhooks/${id}`);
    await api('DELETE', `/v1/webhook_endpoints/${id}`);
    const { text } = await owner.get(`${base}/activity`);
    expect(text).toContain(`<code class="break">${id}</code>`);
    expect(text).not.toContain(`${base}/webhooks/${id}`);
  });
});

describe('text that other people wrote', () => {
  it('is escaped wherever it is shown', async () => {
    const job = await runJob(
      api,
      { bytes: Buffer.from('a,b\n1,2\n'), filename: `${SCRIPT}.csv` },
      { operation: 'convert', options: { convert: { to: 'json' } }, metadata: { [SCRIPT]: `"'${SCRIPT}` } },
    );
    for (const path of ['jobs', `jobs/${String(job['id'])}`]) {
      const { status, text } = await owner.get(`${base}/${path}`);
      expect(status).toBe(200);
      expect(text).toContain(ESCAPED);
      expect(text).not.toContain(SCRIPT);
    }
    await upload(api, Buffer.from('x'), `${SCRIPT}.txt`);
    const uploads = await owner.get(`${base}/uploads`);
    expect(uploads.text).toContain(ESCAPED);
    expect(uploads.text).not.toContain(SCRIPT);
    await service.query(
      `insert into webhook_deliveries (id, account_id, job_id, url, secret, body, next_at, created_at, done_at, delivered, last_error)
       values ('evt_script', $1, $2, $3, '', $4, now(), now(), now(), false, $3)`,
      [account, job['id'], `https://hooks.example.com/${SCRIPT}`, Buffer.from(SCRIPT)],
    );
    await service.query(`insert into webhook_attempts values ('evt_script', now(), 500, $1, 12)`, [SCRIPT]);
    for (const path of ['webhooks', 'deliveries/evt_script']) {
      const { text } = await owner.get(`${base}/${path}`);
      expect(text).toContain(ESCAPED);
      expect(text).not.toContain(SCRIPT);
    }
    expect((await operator.get('/operator/deliveries')).text).not.toContain(SCRIPT);
  });

  it('cannot be injected by unusual addresses', async () => {
    for (const path of [
      `/${SCRIPT}`,
      '/%00',
      '/%zz',
      '/..%2f..',
      `${base}/jobs?status=${SCRIPT}`,
      `${base}/jobs?starting_after=${SCRIPT}`,
      `${base}/jobs?search=${SCRIPT}`,
      `${base}/playground?filename=${SCRIPT}`,
      `${base}/playground?image.quality=${SCRIPT}`,
      `${base}/webhooks?before=${SCRIPT}`,
      `${base}/usage?from=${SCRIPT}`,
      `${base}/activity?before=${SCRIPT}`,
      `/links/${SCRIPT}`,
    ]) {
      const { status, text } = await owner.get(encodeURI(path));
      expect(status).toBeLessThan(500);
      expect(text).not.toContain(SCRIPT);
    }
  });
});

describe('a receipt', () => {
  it('can be downloaded and verified; an altered one is refused', async () => {
    const job = await runJob(
      api,
      { bytes: Buffer.from('a,b\n1,2\n'), filename: 'r.csv' },
      { operation: 'convert', options: { convert: { to: 'json' } } },
    );
    const { text, headers } = await owner.get(`${base}/jobs/${String(job['id'])}/receipt.json`);
    expect(headers['content-disposition']).toBe(`attachment; filename="receipt-${String(job['id'])}.json"`);
    const good = await owner.post(`${base}/receipts`, { receipt: text }, `${base}/receipts`);
    expect(good.text).toContain('Valid: signed with the key');
    const { jws } = JSON.parse(text) as { jws: string };
    const [header, payload, signature] = jws.split('.');
    const changed = Buffer.from(payload ?? '', 'base64url')
      .toString()
      .replace('"livemode":true', '"livemode":null');
    const forged = `${header}.${Buffer.from(changed).toString('base64url')}.${signature}`;
    const bad = await owner.post(`${base}/receipts`, { receipt: forged }, `${base}/receipts`);
    expect(bad.text).toContain('No key of this service signed this text');
  });
});

describe('usage', () => {
  it('is a table and a CSV of the same days, and an invalid range has a message beside its field', async () => {
    const day = new Date().toISOString().slice(0, 10);
    const csv = await owner.get(`${base}/usage.csv?mode=live`);
    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(csv.text).toMatch(
      new RegExp(`^day,meter,requests,quantity,amount_usd\r\n${day},files,\\d+,\\d+,0.\\d+\r\n`),
    );
    expect((await owner.get(`${base}/usage`)).text).toContain('<svg ');
    const wrong = await owner.get(`${base}/usage?from=2026-02-31`);
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain('id="p-from"');
  });
});

describe('the quick start', () => {
  it('has commands that run as pasted with the whole key in place of its hint', async () => {
    const { text } = await owner.get(`${base}/quick-start`);
    const commands = ['direct', 'job'].map((id) => commandsIn(text, id));
    const folder = freshFolder();
    await paste(folder, [trust(folder, service.ca), ...commands]);
    expect(readFileSync(path.join(folder, 'smaller.jpg')).subarray(0, 2).toString('hex')).toBe('ffd8');
    expect(readFileSync(path.join(folder, 'smaller.pdf')).subarray(0, 5).toString()).toBe('%PDF-');
  });

  /** Returns the commands of a block as its button copies them, with a test key of the account. */
  function commandsIn(html: string, id: string): string {
    const [, code = ''] = new RegExp(`<pre id="${id}"[^>]*>([^<]*)</pre>`).exec(html) ?? [];
    const text = code
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>');
    return text.replaceAll('&amp;', '&').replace(/^key=\S+/, `key=${test}`);
  }
});

describe('a suspended account', () => {
  it('can be viewed, and changed only by actions that reduce its access', async () => {
    const held = await makeAccount();
    await join(held.account);
    await operator.post(`/operator/accounts/${held.account}/suspend`, {}, '/operator');
    const path = `/accounts/${held.account}`;
    expect((await owner.get(`${path}/keys`)).text).toContain('This account is suspended');
    expect((await owner.post(`${path}/keys`, { name: 'x', mode: 'test' }, '/profile')).status).toBe(403);
    const id = /keys\/(key_[0-9a-z]+)\/revoke/.exec((await owner.get(`${path}/keys`)).text)?.[1] ?? '';
    expect((await owner.post(`${path}/keys/${id}/revoke`, {}, '/profile')).status).toBe(303);
    expect((await api('GET', '/v1/presets', { key: held.test })).json()).toMatchObject({
      error: { type: expect.stringMatching(/permission|authentication/) },
    });
    await operator.post(`/operator/accounts/${held.account}/reactivate`, {}, '/operator');
    expect((await owner.post(`${path}/keys`, { name: 'x', mode: 'test' }, '/profile')).status).toBe(303);
  });
});
