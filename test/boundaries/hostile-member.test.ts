/**
 * Attempts of a present, former or would-be member against the running service over HTTP. Each row is one attempt that
 * must fail. Tests of races and of the identity provider are beside their sources in `api/users`.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { MEDIACTL } from '#api/audit/audit.ts';
import { openService } from '#api/mediactl/open-service.ts';
import { makeLink } from '#api/users/one-time-link.ts';
import { resetUser } from '#api/users/reset-user.ts';
import { codeOf } from '#test/support/totp-code.ts';
import type { Role, User } from '#api/users/user.ts';
import { makeDashboardClient, tokenOf, type DashboardClient } from '#test/support/dashboard-client.ts';
import { addPerson, invite, PASSWORD } from '#test/support/people.ts';
import { runJob } from '#test/support/run-through.ts';
import { useService } from '#test/support/use-service.ts';

const COOKIE = '__Host-mediajobs_session';
const ANOTHER_PASSWORD = 'another that nobody guesses';
const { service, account, api, makeAccount } = await useService('growth');
const other = await makeAccount();
const inside = await openService({ data: service.data, env: {} });
const clients: DashboardClient[] = [];
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await inside.database.close();
});

function browser(network?: string): DashboardClient {
  const client = makeDashboardClient(service, network);
  clients.push(client);
  return client;
}

let people = 0;
const freshEmail = (): string => `hostile-${(people += 1)}@members.example`;

interface Person extends DashboardClient {
  readonly user: User;
}

async function signedIn(user: User, network?: string): Promise<Person> {
  const { path } = await makeLink(inside.database, { userId: user.id, purpose: 'sign_in', at: new Date() });
  const client = browser(network);
  expect((await client.post(path, {}, path)).status).toBe(303);
  return { ...client, user };
}

/** Adds a person with a membership and signs in. */
async function person(role: Role | null, accountId = account, email = freshEmail()): Promise<Person> {
  return signedIn(await addPerson(inside, { email, membership: role === null ? null : { accountId, role } }));
}

const operatorUser = await addPerson(inside, { email: freshEmail(), membership: null, operator: true });
const operator = await signedIn(operatorUser);
const owner = await person('owner');
const developer = await person('developer');
const stranger = await person('owner', other.account);
const members = (id = account): string => `/accounts/${id}/members`;
const newPassword = { password: ANOTHER_PASSWORD };

async function setUpSecondStep({ post, get }: DashboardClient): Promise<string> {
  await post('/profile/second-step/start', { again: PASSWORD }, '/profile');
  const secret = /Key: <code>([A-Z2-7 ]+)</.exec((await get('/profile')).text)?.[1]?.replaceAll(' ', '') ?? '';
  const code = codeOf(secret, Math.floor(Date.now() / 30_000));
  expect((await post('/profile/second-step/confirm', { code }, '/profile')).status).toBe(303);
  return secret;
}

type Attempt = readonly [what: string, attempt: () => Promise<void>];

const withInvitations: readonly Attempt[] = [
  [
    'sets up a login for a stranger’s address, and waits for the stranger to become an operator',
    async () => {
      const email = freshEmail();
      const waiting = await person('developer', other.account, email);
      const path = `/links/${await invite(inside, { email, membership: null, operator: true })}`;
      const real = browser();
      expect(await real.post(path, newPassword, path)).toMatchObject({ status: 303 });
      expect((await real.get('/operator')).status).toBe(200);
      expect((await waiting.get('/operator')).status).toBe(404);
    },
  ],
  [
    'sets up a login for a stranger’s address, and signs in with it once the stranger is a member elsewhere',
    async () => {
      const email = freshEmail();
      await addPerson(inside, { email, membership: { accountId: other.account, role: 'developer' } });
      const path = `/links/${await invite(inside, { email, membership: { accountId: account, role: 'owner' } })}`;
      await browser().post(path, newPassword, path);
      const attacker = browser('127.0.0.4');
      expect((await attacker.post('/sign-in', { email, password: PASSWORD }, '/sign-in')).status).toBe(303);
      expect((await attacker.get(members())).status).toBe(404);
      expect((await attacker.get(members(other.account))).status).toBe(200);
    },
  ],
  [
    'becomes a member of what the address is invited to without the link',
    async () => {
      const invited = await person('developer', other.account);
      await invite(inside, { email: invited.user.email, membership: { accountId: account, role: 'owner' } });
      expect((await invited.get(members())).status).toBe(404);
      expect((await invited.get('/')).text).not.toContain(account);
    },
  ],
  [
    'invites somebody who has a login, and opens the link to get into it',
    async () => {
      const victim = await person('owner', other.account);
      const { email } = victim.user;
      await owner.post(members(), { email, role: 'developer' }, members());
      const path = /\/dashboard(\/links\/[\w-]+)/.exec((await owner.get(members())).text)?.[1] ?? '';
      const attacker = browser();
      expect((await attacker.post(path, newPassword, path)).status).toBe(303);
      expect((await attacker.get(members(other.account))).status).toBe(404);
      expect((await victim.get(members(other.account))).status).toBe(200);
      const again = browser('127.0.0.5');
      expect((await again.post('/sign-in', { email, password: PASSWORD }, '/sign-in')).status).toBe(303);
    },
  ],
  [
    'learns from an invitation page whether somebody has a login',
    async () => {
      const [known, unknown] = [owner.user.email, freshEmail()];
      const pages = [];
      for (const email of [known, unknown]) {
        const token = await invite(inside, { email, membership: { accountId: other.account, role: 'developer' } });
        const { text } = await browser().get(`/links/${token}`);
        pages.push(
          text
            .replaceAll(email, 'EMAIL')
            .replaceAll(token, 'TOKEN')
            .replaceAll(/value="[\w-]{43}"/g, ''),
        );
      }
      expect(pages[0]).toBe(pages[1]);
    },
  ],
  [
    'uses a link twice',
    async () => {
      const token = await invite(inside, {
        email: freshEmail(),
        membership: { accountId: account, role: 'developer' },
      });
      const [first, second] = [browser(), browser()];
      const page = await second.get(`/links/${token}`);
      expect((await first.post(`/links/${token}`, newPassword, `/links/${token}`)).status).toBe(303);
      const late = await second.post(`/links/${token}`, newPassword, '', { formToken: tokenOf(page.text) });
      expect(late.status).toBe(404);
    },
  ],
  [
    'uses a link whose invitation was withdrawn',
    async () => {
      const email = freshEmail();
      const path = `/links/${await invite(inside, { email, membership: { accountId: account, role: 'developer' } })}`;
      const client = browser();
      const page = await client.get(path);
      expect((await owner.post(`${members()}/withdraw`, { email }, members())).status).toBe(303);
      expect((await client.post(path, newPassword, '', { formToken: tokenOf(page.text) })).status).toBe(404);
    },
  ],
  [
    'uses the link of before when a newer one was made',
    async () => {
      const membership = { accountId: account, role: 'developer' } as const;
      const email = freshEmail();
      const path = `/links/${await invite(inside, { email, membership: { ...membership, role: 'owner' } })}`;
      await invite(inside, { email, membership });
      expect((await browser().get(path)).status).toBe(404);
    },
  ],
  [
    'accepts somebody else’s invitation with a login of another address',
    async () => {
      const token = await invite(inside, { email: freshEmail(), membership: { accountId: account, role: 'owner' } });
      const response = await stranger.post(`/links/${token}`, { as: stranger.user.id }, '/profile');
      expect(response.status).toBe(403);
      expect((await stranger.get(members())).status).toBe(404);
    },
  ],
  [
    'accepts an invitation in the name of somebody else’s login',
    async () => {
      const token = await invite(inside, {
        email: developer.user.email,
        membership: { accountId: other.account, role: 'owner' },
      });
      const response = await stranger.post(`/links/${token}`, { as: developer.user.id }, '/profile');
      expect(response.status).toBe(403);
      expect((await developer.get(members(other.account))).status).toBe(404);
    },
  ],
  [
    'withdraws the invitation of another account',
    async () => {
      const email = freshEmail();
      await invite(inside, { email, membership: { accountId: account, role: 'developer' } });
      expect((await stranger.post(`${members(other.account)}/withdraw`, { email }, '/profile')).status).toBe(404);
      expect((await stranger.post(`${members()}/withdraw`, { email }, '/profile')).status).toBe(404);
      expect((await owner.get(members())).text).toContain(email);
    },
  ],
  [
    'rejoins after the removal by an invitation that they sent themselves',
    async () => {
      const leaving = await person('owner');
      await leaving.post(members(), { email: 'friend@members.example', role: 'owner' }, members());
      const path = /\/dashboard(\/links\/[\w-]+)/.exec((await leaving.get(members())).text)?.[1] ?? '';
      expect((await owner.post(`${members()}/${leaving.user.id}`, { role: 'none' }, members())).status).toBe(303);
      expect((await browser().get(path)).status).toBe(404);
    },
  ],
];

const withRoles: readonly Attempt[] = [
  [
    'makes themself an owner',
    async () => {
      const path = `${members()}/${developer.user.id}`;
      expect((await developer.post(path, { role: 'owner' }, '/profile')).status).toBe(403);
    },
  ],
  [
    'makes themself an operator by fields that no form has',
    async () => {
      const email = freshEmail();
      const forged = { operator: 'true', 'user[operator]': '1' };
      await owner.post(members(), { email, role: 'developer', ...forged }, members());
      const path = /\/dashboard(\/links\/[\w-]+)/.exec((await owner.get(members())).text)?.[1] ?? '';
      const client = browser();
      await client.post(path, { ...newPassword, ...forged, role: 'owner' }, path);
      expect((await client.get('/operator')).status).toBe(404);
      expect((await client.post(members(), { email: freshEmail(), role: 'owner' }, '/profile')).status).toBe(403);
    },
  ],
  [
    'opens the operator’s actions as an owner',
    async () => {
      const path = `/operator/accounts/${account}`;
      for (const action of [path, `${path}/suspend`, `${path}/owner`, '/operator/accounts'])
        expect((await owner.post(action, { plan: 'scale', name: 'x' }, '/profile')).status).toBe(404);
    },
  ],
  [
    'leaves the account without an owner, as its last one',
    async () => {
      const { account: single } = await makeAccount();
      const last = await person('owner', single);
      for (const role of ['none', 'developer', 'read_only']) {
        const response = await last.post(`${members(single)}/${last.user.id}`, { role }, members(single));
        expect(response).toMatchObject({ status: 409 });
      }
    },
  ],
  [
    'removes the other owner at the moment when that one does the same',
    async () => {
      const { account: shared } = await makeAccount();
      const [one, two] = [await person('owner', shared), await person('owner', shared)];
      const tokens = [tokenOf((await one.get('/profile')).text), tokenOf((await two.get('/profile')).text)];
      const answers = await Promise.all([
        one.post(`${members(shared)}/${two.user.id}`, { role: 'none' }, '', { formToken: tokens[0] ?? '' }),
        two.post(`${members(shared)}/${one.user.id}`, { role: 'none' }, '', { formToken: tokens[1] ?? '' }),
      ]);
      expect(answers.filter(({ status, to }) => status === 303 && to === members(shared))).toHaveLength(1);
      const owners = await service.query("select from memberships where account_id = $1 and role = 'owner'", [shared]);
      expect(owners).toHaveLength(1);
    },
  ],
  [
    'changes a member of another account by id',
    async () => {
      const path = `${members(other.account)}/${developer.user.id}`;
      expect((await stranger.post(path, { role: 'none' }, '/profile')).status).toBe(404);
      expect((await developer.get(members())).status).toBe(200);
    },
  ],
  [
    'reads and changes things of another account by their ids below their own',
    async () => {
      const key = (await service.query('select id from api_keys where account_id = $1', [account]))[0]?.['id'];
      const job = await smallJob('theirs.csv');
      const base = `/accounts/${other.account}`;
      for (const path of [`jobs/${job}`, `jobs/${job}/receipt.json`, 'deliveries/evt_00000000000000000000'])
        expect((await stranger.get(`${base}/${path}`)).status).toBe(404);
      for (const path of [`jobs/${job}/delete`, `keys/${String(key)}/revoke`])
        expect((await stranger.post(`${base}/${path}`, {}, '/profile')).status).toBe(404);
      expect((await stranger.get(`${base}/jobs/live?ids=${job}`)).text).not.toContain(job);
    },
  ],
];

async function smallJob(filename: string): Promise<string> {
  const job = await runJob(
    api,
    { bytes: Buffer.from('a,b\n1,2\n'), filename },
    { operation: 'convert', options: { convert: { to: 'json' } } },
  );
  return String(job['id']);
}

const withSessions: readonly Attempt[] = [
  [
    'plants a cookie in a browser and waits for its user to sign in',
    async () => {
      const victim = browser('127.0.0.6');
      await victim.get('/sign-in');
      const planted = victim.cookies.get(COOKIE) ?? '';
      expect(planted).not.toBe('');
      await victim.post('/sign-in', { email: owner.user.email, password: PASSWORD }, '/sign-in');
      expect(victim.cookies.get(COOKIE)).not.toBe(planted);
      const attacker = browser();
      attacker.cookies.set(COOKIE, planted);
      expect((await attacker.get('/profile')).status).toBe(303);
    },
  ],
  [
    'slips a second session cookie into a request',
    async () => {
      const cookie = owner.cookies.get(COOKIE) ?? '';
      const client = browser();
      client.cookies.set(COOKIE, `${developer.cookies.get(COOKIE) ?? ''}; ${COOKIE}=${cookie}`);
      expect((await client.get('/profile')).status).toBe(303);
    },
  ],
  [
    'finds another cookie than the session’s',
    async () => {
      const client = browser('127.0.0.7');
      await client.get('/sign-in');
      await client.post('/sign-in', { email: owner.user.email, password: 'wrong' }, '/sign-in');
      await client.post('/sign-in', { email: owner.user.email, password: PASSWORD }, '/sign-in');
      await client.post('/sign-out', {}, '/profile');
      expect([...client.cookies.keys()]).toEqual([COOKIE]);
    },
  ],
  [
    'stays signed in elsewhere after the password was changed',
    async () => {
      const victim = await person('developer');
      const thief = await signedIn(victim.user);
      const fields = { current: PASSWORD, password: ANOTHER_PASSWORD };
      expect((await victim.post('/profile/password', fields, '/profile')).status).toBe(303);
      expect((await thief.get('/profile')).status).toBe(303);
      expect((await victim.get('/profile')).status).toBe(200);
    },
  ],
  [
    'uses a reset link of before after the password was changed',
    async () => {
      const victim = await person('developer');
      const { link } = await resetUser(inside, { caller: MEDIACTL, input: { name: victim.user.id, secondStep: true } });
      await victim.post('/profile/password', { current: PASSWORD, password: ANOTHER_PASSWORD }, '/profile');
      expect((await browser().get(link.path)).status).toBe(404);
    },
  ],
  [
    'keeps the account’s pages open after being removed from it',
    async () => {
      const leaving = await person('owner');
      await owner.post(`${members()}/${leaving.user.id}`, { role: 'none' }, members());
      expect((await leaving.get(members())).status).toBe(303);
      const known = await person('developer', other.account);
      const token = await invite(inside, {
        email: known.user.email,
        membership: { accountId: account, role: 'owner' },
      });
      await known.post(`/links/${token}`, { as: known.user.id }, '/profile');
      expect((await known.get(members())).status).toBe(200);
      await owner.post(`${members()}/${known.user.id}`, { role: 'none' }, members());
      expect((await known.get(members())).status).toBe(404);
      expect((await known.get(members(other.account))).status).toBe(200);
    },
  ],
  [
    'sets a password in a stolen session without knowing the old one',
    async () => {
      for (const current of ['', 'wrong'])
        expect(
          (await developer.post('/profile/password', { current, password: ANOTHER_PASSWORD }, '/profile')).status,
        ).toBe(400);
    },
  ],
  [
    'switches a second step on in a stolen session without the password',
    async () => {
      const victim = await person('developer');
      for (const again of ['', 'wrong'])
        expect((await victim.post('/profile/second-step/start', { again }, '/profile')).status).toBe(400);
      expect((await victim.get('/profile')).text).not.toContain('Key:');
      expect((await victim.post('/profile/second-step/confirm', { code: '000000' }, '/profile')).status).toBe(400);
    },
  ],
  [
    'reads or confirms in a stolen session the second step that its person is setting up',
    async () => {
      const victim = await person('developer');
      const thief = await signedIn(victim.user);
      await victim.post('/profile/second-step/start', { again: PASSWORD }, '/profile');
      expect((await victim.get('/profile')).text).toContain('Key:');
      expect((await thief.get('/profile')).text).not.toContain('Key:');
      expect((await thief.post('/profile/second-step/confirm', { code: '000000' }, '/profile')).status).toBe(400);
    },
  ],
  [
    'stays signed in elsewhere after the second step was switched on, or switches it off without the password',
    async () => {
      const victim = await person('developer');
      const thief = await signedIn(victim.user);
      await setUpSecondStep(victim);
      expect((await thief.get('/profile')).status).toBe(303);
      expect((await victim.post('/profile/second-step/end', { again: 'wrong' }, '/profile')).status).toBe(400);
      expect((await victim.get('/profile')).text).toContain('On: signing in requires a code');
    },
  ],
  [
    'gets past the second step with somebody’s password or one-time link',
    async () => {
      const victim = await person('developer');
      await setUpSecondStep(victim);
      const { path } = await makeLink(inside.database, { userId: victim.user.id, purpose: 'sign_in', at: new Date() });
      const thief = browser('127.0.0.8');
      expect((await thief.post(path, {}, path)).to).toContain('/second-step');
      expect((await thief.get('/profile')).to).toContain('/sign-in');
      const password = await thief.post('/sign-in', { email: victim.user.email, password: PASSWORD }, '/sign-in');
      expect(password.to).toContain('/second-step');
      expect((await thief.get(members())).to).toContain('/sign-in');
    },
  ],
  [
    'locks somebody out by wrong passwords from their own network',
    async () => {
      const victim = await person('developer');
      const { email } = victim.user;
      const attacker = browser('127.0.0.9');
      const statuses = [];
      for (let tries = 0; tries < 40; tries += 1)
        statuses.push((await attacker.post('/sign-in', { email, password: 'guess' }, '/sign-in')).status);
      expect(statuses.filter((status) => status === 401)).toHaveLength(5);
      const right = await browser('127.0.0.10').post('/sign-in', { email, password: PASSWORD }, '/sign-in');
      expect(right.status).toBe(303);
      expect((await attacker.post('/sign-in', { email, password: PASSWORD }, '/sign-in')).status).toBe(429);
    },
  ],
  [
    'guesses the password of a login indefinitely by signing in meanwhile with their own login of the same address',
    async () => {
      const victim = await person('developer');
      const { email } = victim.user;
      const path = `/links/${await invite(inside, { email, membership: { accountId: other.account, role: 'developer' } })}`;
      const attacker = browser('127.0.0.11');
      await attacker.post(path, newPassword, path);
      const statuses = [];
      for (let tries = 0; tries < 12; tries += 1) {
        statuses.push((await attacker.post('/sign-in', { email, password: 'guess' }, '/sign-in')).status);
        await attacker.post('/sign-in', { email, password: ANOTHER_PASSWORD }, '/sign-in');
      }
      expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(5);
    },
  ],
  [
    'sends forms from another site, or without a token',
    async () => {
      const fields = { email: freshEmail(), role: 'owner' };
      for (const how of [
        { formToken: null },
        { formToken: tokenOf((await developer.get('/profile')).text) },
        { headers: { origin: 'https://evil.example' } },
        { headers: { 'sec-fetch-site': 'cross-site' } },
      ])
        expect((await owner.post(members(), fields, members(), how)).status).toBe(403);
      expect((await owner.get(members())).text).not.toContain(fields.email);
    },
  ],
];

const withWhatIsShown: readonly Attempt[] = [
  [
    'reads a result’s link as an operator who is no member',
    async () => {
      const job = await smallJob('result.csv');
      const path = `/accounts/${account}/jobs/${job}`;
      expect((await owner.get(path)).text).toContain('/output?');
      const { status, text } = await operator.get(path);
      expect(status).toBe(200);
      expect(text).toContain('Only members of the account are shown the link');
      expect(text).not.toContain('/output');
    },
  ],
  [
    'reads a result’s link in a webhook delivery as an operator who is no member',
    async () => {
      const job = await smallJob('delivered.csv');
      const link = 'https://media.example.com/v1/jobs/x/output?expires=1&signature=abc';
      const body = JSON.stringify({ data: { job: { id: job, result: { download_url: link } } } });
      await service.query(
        `insert into webhook_deliveries (id, account_id, job_id, url, secret, body, next_at, created_at, done_at, delivered)
         values ('evt_hostilemember000001', $1, $2, 'https://hooks.example.com/', '', $3, now(), now(), now(), true)`,
        [account, job, Buffer.from(body)],
      );
      const path = `/accounts/${account}/deliveries/evt_hostilemember000001`;
      expect((await owner.get(path)).text).toContain('signature=abc');
      const { status, text } = await operator.get(path);
      expect(status).toBe(200);
      expect(text).toContain('shown to members only');
      expect(text).not.toContain('signature=abc');
    },
  ],
  [
    'disguises a file, an address or a key by characters that nobody sees',
    async () => {
      const job = await smallJob('photo\u202egpj.csv');
      for (const path of ['jobs', `jobs/${job}`]) {
        const { text } = await owner.get(`/accounts/${account}/${path}`);
        expect(text).toContain('photo\\u202egpj.csv');
        expect(text).not.toContain('\u202e');
      }
      const key = { name: 'ci\u200brunner', mode: 'test' };
      await owner.post(`/accounts/${account}/keys`, key, `/accounts/${account}/keys`);
      expect((await owner.get(`/accounts/${account}/keys`)).text).toContain('ci\\u200brunner');
      const invited = await owner.post(members(), { email: 'a\u202eb@example.com', role: 'owner' }, members());
      expect(invited.status).toBe(400);
    },
  ],
];

describe('a hostile member', () => {
  it.each([...withInvitations, ...withRoles, ...withSessions, ...withWhatIsShown])('%s, in vain', (_what, attempt) =>
    attempt(),
  );
});
