/** Runs mediactl in a process of its own against a real database. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { findCaller } from '#api/accounts/find-caller.ts';
import { systemClock } from '#crds/process/clock.ts';
import { makeLog } from '#crds/process/log.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const pepper = 'p'.repeat(32);
const environment = { DATABASE_URL: database.url, MEDIAJOBS_KEY_PEPPER: pepper };
const folder = await mkdtemp(path.join(tmpdir(), 'mediactl-'));
afterAll(() => rm(folder, { recursive: true }));

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function mediactl(args: readonly string[], env: Record<string, string> = environment): Promise<Run> {
  const script = fileURLToPath(new URL('../mediactl.ts', import.meta.url));
  const { promise, resolve } = Promise.withResolvers<Run>();
  execFile(
    process.execPath,
    [script, ...args],
    { env: { PATH: process.env['PATH'], ...env } },
    (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    },
  );
  return promise;
}

/** Runs a command and returns the JSON object that it prints. */
async function json(...args: readonly string[]): Promise<Record<string, unknown>> {
  const run = await mediactl([...args, '--json']);
  expect(run).toMatchObject({ code: 0, stderr: '' });
  expect(run.stdout.trim().split('\n')).toHaveLength(1);
  return JSON.parse(run.stdout) as Record<string, unknown>;
}

const createAccount = async (): Promise<string> =>
  String((await json('account', 'create', '--name', 'Acme', '--plan', 'payg'))['id']);

describe('mediactl account', () => {
  it('creates, changes and lists accounts', async () => {
    const created = await json(
      'account',
      'create',
      '--name',
      'Acme',
      '--plan',
      'payg',
      '--payment-method',
      '--feature',
      'video',
      '--feature',
      'heic_output',
    );
    expect(created).toStrictEqual({
      id: expect.stringMatching(/^acc_[0-9a-z]{20}$/),
      name: 'Acme',
      plan: 'payg',
      payment_method: true,
      unpaid_invoice: false,
      suspended: false,
      spend_cap_usd: null,
      features: ['video', 'heic_output'],
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    const id = String(created['id']);
    const first = await json(
      'account',
      'set',
      id,
      '--plan',
      'growth',
      '--no-payment-method',
      '--unpaid-invoice',
      '--suspended',
      '--spend-cap',
      '12.5',
      '--no-feature',
      'video',
    );
    const expected = {
      ...created,
      plan: 'growth',
      payment_method: false,
      unpaid_invoice: true,
      suspended: true,
      spend_cap_usd: 12.5,
      features: ['heic_output'],
    };
    expect(first).toStrictEqual(expected);
    const second = await json(
      'account',
      'set',
      id,
      '--no-unpaid-invoice',
      '--no-suspended',
      '--spend-cap',
      'none',
      '--feature',
      'video',
    );
    expect(second).toStrictEqual({
      ...expected,
      unpaid_invoice: false,
      suspended: false,
      spend_cap_usd: null,
      features: ['heic_output', 'video'],
    });
    const list = await json('account', 'list');
    expect(list).toStrictEqual({ object: 'list', data: expect.arrayContaining([second]) });
  });

  it('prints accounts as a table', async () => {
    await createAccount();
    const { stdout } = await mediactl(['account', 'list']);
    const [head, ...rows] = stdout.trim().split('\n');
    expect(head).toMatch(/^ID +NAME +PLAN +PAYMENT METHOD/);
    expect(rows.at(-1)).toMatch(/^acc_[0-9a-z]{20} +Acme +payg +no/);
  });
});

describe('mediactl key', () => {
  it('creates a key that works, lists it without its text, and revokes it', async () => {
    const account = await createAccount();
    const created = await json(
      'key',
      'create',
      '--account',
      account,
      '--mode',
      'live',
      '--name',
      'server',
      '--allow',
      '10.1.2.3/8',
      '--allow',
      '2001:db8::1',
    );
    expect(created).toStrictEqual({
      id: expect.stringMatching(/^key_[0-9a-z]{20}$/),
      key: expect.stringMatching(/^svc_live_[A-Za-z0-9]{32}$/),
      account,
      mode: 'live',
      name: 'server',
      allow_list: ['10.0.0.0/8', '2001:db8::1'],
      created_at: expect.any(String),
      revoked_at: null,
    });
    const deps = { database, clock: systemClock, log: makeLog('test', 'error'), peppers: [pepper] as const };
    const caller = await findCaller(deps, { authorization: `Bearer ${String(created['key'])}`, address: '' });
    expect(caller).toMatchObject({ account: { id: account }, keyId: created['id'], livemode: true });

    const { stdout: listed } = await mediactl(['key', 'list', '--account', account, '--json']);
    expect(listed).not.toContain(String(created['key']).slice(9, -4));
    expect(JSON.parse(listed)).toMatchObject({
      object: 'list',
      data: [{ id: created['id'], mode: 'live', revoked_at: null }],
    });

    expect(await json('key', 'revoke', String(created['id']))).toMatchObject({
      id: created['id'],
      revoked_at: expect.any(String),
    });
    await expect(
      findCaller(deps, { authorization: `Bearer ${String(created['key'])}`, address: '' }),
    ).rejects.toMatchObject({ code: 'revoked_key' });
  });

  it('lists the keys of all accounts without --account', async () => {
    const [one, two] = [await createAccount(), await createAccount()];
    for (const account of [one, two])
      await json('key', 'create', '--account', account, '--mode', 'test', '--name', 'k');
    const { data } = (await json('key', 'list')) as { data: { account: string }[] };
    expect(data.map((key) => key.account)).toStrictEqual(expect.arrayContaining([one, two]));
  });

  it('prints a new key with the note that it is not shown again', async () => {
    const { stdout } = await mediactl([
      'key',
      'create',
      '--account',
      await createAccount(),
      '--mode',
      'test',
      '--name',
      'k',
    ]);
    expect(stdout).toMatch(/KEY +svc_test_[A-Za-z0-9]{32}\n/);
    expect(stdout).toContain('not shown again');
  });
});

describe('mediactl with --data', () => {
  it('uses the database of the service that runs on the folder', async () => {
    const data = path.join(folder, 'running');
    await mkdir(path.join(data, 'run'), { recursive: true });
    await writeFile(
      path.join(data, 'run', 'connection.json'),
      JSON.stringify({ DATABASE_URL: database.url, REDIS_URL: 'unix:///none', ops: {} }),
    );
    await writeFile(path.join(data, 'secrets.json'), JSON.stringify({ MEDIAJOBS_KEY_PEPPER: pepper }));
    const run = await mediactl(['--data', data, 'account', 'create', '--name', 'Local', '--json'], {});
    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(run.stdout)).toMatchObject({ name: 'Local', plan: 'none' });
  });

  it.each([
    ['that does not exist', 'none', null],
    ['whose service was killed', 'killed', 'postgresql:///postgres?host=/nowhere&user=nobody'],
  ])('explains how to start the service on a folder %s', async (_what, name, url) => {
    const data = path.join(folder, name);
    if (url !== null) {
      await mkdir(path.join(data, 'run'), { recursive: true });
      await writeFile(path.join(data, 'run', 'connection.json'), JSON.stringify({ DATABASE_URL: url }));
      await writeFile(path.join(data, 'secrets.json'), JSON.stringify({ MEDIAJOBS_KEY_PEPPER: pepper }));
    }
    const run = await mediactl(['--data', data, 'account', 'list'], {});
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(
      /^mediactl: No service runs on the data folder .*: start it with `hack\/demo --serve --data .*`, then run this again\.\n$/,
    );
    expect(run.stderr.trim().split('\n')).toHaveLength(1);
  });
});

describe('a failed mediactl command', () => {
  it.each<[string, string[], string]>([
    [
      'an unknown plan',
      ['account', 'create', '--name', 'x', '--plan', 'gold'],
      'Allowed choices are none, payg, starter',
    ],
    [
      'an unknown feature',
      ['account', 'create', '--name', 'x', '--feature', 'audio'],
      'Allowed choices are video, heic_output',
    ],
    ['a missing name', ['account', 'create'], "required option '--name <name>' not specified"],
    ['an account that does not exist', ['account', 'set', 'acc_none', '--suspended'], 'There is no account `acc_none`'],
    [
      'keys of an account that does not exist',
      ['key', 'list', '--account', 'acc_none'],
      'There is no account `acc_none`',
    ],
    [
      'a key for an account that does not exist',
      ['key', 'create', '--account', 'acc_none', '--mode', 'test', '--name', 'k'],
      'There is no account `acc_none`',
    ],
    [
      'an unknown mode',
      ['key', 'create', '--account', 'acc_none', '--mode', 'prod', '--name', 'k'],
      'Allowed choices are live, test',
    ],
    [
      'a long name',
      ['key', 'create', '--account', 'acc_none', '--mode', 'test', '--name', 'k'.repeat(61)],
      '61 characters; the name of a key has 1 to 60',
    ],
    [
      'a bad range',
      ['key', 'create', '--account', 'acc_none', '--mode', 'test', '--name', 'k', '--allow', '10.0.0.0/33'],
      '`10.0.0.0/33` is neither',
    ],
    ['a key that does not exist', ['key', 'revoke', 'key_none'], 'There is no key `key_none`'],
    [
      'a cap that is not an amount',
      ['account', 'set', 'acc_none', '--spend-cap', '1e3'],
      'Give US dollars from 0 to 1000000000',
    ],
  ])('reports %s in one sentence', async (_what, args, message) => {
    const run = await mediactl(args);
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toContain(message);
    expect(run.stderr.trim().split('\n')).toHaveLength(1);
  });

  it('reports each missing setting of the environment', async () => {
    const run = await mediactl(['account', 'list'], {});
    expect(run.code).toBe(1);
    expect(run.stderr).toContain('DATABASE_URL: is required');
    expect(run.stderr).toContain('MEDIAJOBS_KEY_PEPPER: is required');
  });

  it('reports a database that does not answer and one without tables', async () => {
    const unreachable = await mediactl(['account', 'list'], {
      ...environment,
      DATABASE_URL: 'postgresql:///x?host=/nowhere',
    });
    expect(unreachable).toMatchObject({ code: 1, stdout: '' });
    expect(unreachable.stderr).toContain('The database that DATABASE_URL names does not answer');
    const empty = await testDatabase({ migrated: false });
    const untouched = await mediactl(['account', 'list'], { ...environment, DATABASE_URL: empty.url });
    expect(untouched).toMatchObject({ code: 1, stdout: '' });
    expect(untouched.stderr).toContain('start the service on it once');
  });
});
