/** Accounts and keys against a real database. */
import { describe, expect, it } from 'vitest';
import type { Account } from '#api/accounts/account.ts';
import { findAccount, selectAccounts } from '#api/accounts/account-rows.ts';
import { createAccount } from '#api/accounts/create-account.ts';
import { createKey } from '#api/accounts/create-key.ts';
import { findCaller, noteExposedKey } from '#api/accounts/find-caller.ts';
import { selectKeys } from '#api/accounts/key-rows.ts';
import { revokeKey } from '#api/accounts/revoke-key.ts';
import { updateAccount } from '#api/accounts/update-account.ts';
import { MEDIACTL } from '#api/audit/audit.ts';
import { newId } from '#crds/contract/ids.ts';
import { makeLog } from '#crds/process/log.ts';
import { testDatabase } from '#test/support/database.ts';

const START = new Date('2026-10-05T12:00:00.000Z');
let time = START;
const database = await testDatabase();
// Queries of one connection run one after the other, so the next query sees an update that was not awaited.
const oneConnection = await testDatabase({ maxConnections: 1 });
const pepper = 'p'.repeat(32);
const deps = { database, clock: { now: () => time }, newId, peppers: [pepper] as const, log: makeLog('test', 'error') };

const anAccount = (on = deps): Promise<Account> =>
  createAccount(on, {
    caller: MEDIACTL,
    input: { name: 'Acme', plan: 'payg', paymentMethod: true, features: ['video'] },
  });
const aKey = (accountId: string, on = deps) =>
  createKey(on, { caller: MEDIACTL, input: { accountId, mode: 'live', name: 'server', allowList: ['10.1.2.3/8'] } });

describe('an account', () => {
  it('is stored as it was created', async () => {
    const account = await anAccount();
    expect(await findAccount(database, account.id)).toStrictEqual(account);
    expect(await selectAccounts(database)).toContainEqual(account);
  });

  it.each([
    [
      { plan: 'growth', suspended: true },
      { plan: 'growth', suspended: true },
    ],
    [
      { paymentMethod: false, unpaidInvoice: true },
      { paymentMethod: false, unpaidInvoice: true },
    ],
    [{ spendCapMicroUsd: 12_500_000 }, { spendCapMicroUsd: 12_500_000 }],
    [{ addFeatures: ['heic_output'] }, { features: ['video', 'heic_output'] }],
    [{ removeFeatures: ['video'] }, { features: [] }],
  ] as const)('changes by %j and keeps the rest', async (change, expected) => {
    const account = await anAccount();
    const changed = await updateAccount(deps, { caller: MEDIACTL, input: { id: account.id, ...change } });
    expect(changed).toStrictEqual({ ...account, ...expected });
    expect(await findAccount(database, account.id)).toStrictEqual(changed);
  });

  it('keeps all of several parallel changes', async () => {
    const { id } = await anAccount();
    await Promise.all([
      updateAccount(deps, { caller: MEDIACTL, input: { id, suspended: true } }),
      updateAccount(deps, { caller: MEDIACTL, input: { id, addFeatures: ['heic_output'] } }),
      updateAccount(deps, { caller: MEDIACTL, input: { id, plan: 'scale' } }),
    ]);
    expect(await findAccount(database, id)).toMatchObject({
      suspended: true,
      plan: 'scale',
      features: ['video', 'heic_output'],
    });
  });

  it.each([
    [
      'an unknown account',
      () => updateAccount(deps, { caller: MEDIACTL, input: { id: 'acc_nobody', suspended: true } }),
      'There is no account `acc_nobody`',
    ],
    [
      'a negative cap',
      async () =>
        updateAccount(deps, { caller: MEDIACTL, input: { id: (await anAccount()).id, spendCapMicroUsd: -1_000_000 } }),
      '-1 USD',
    ],
    [
      'an empty name',
      () =>
        createAccount(deps, {
          caller: MEDIACTL,
          input: { name: ' ', plan: 'none', paymentMethod: false, features: [] },
        }),
      '1 to 100',
    ],
  ])('refuses %s', async (_what, attempt, message) => {
    await expect(attempt()).rejects.toThrow(message);
  });
});

describe('a key', () => {
  // Promise, Authentication: Keys are stored as a digest under a pepper that can be replaced; secrets are encrypted under keys with ids
  it('is stored without its text', async () => {
    const { id } = await anAccount();
    const { row, keyText } = await aKey(id);
    expect(row).toMatchObject({ accountId: id, livemode: true, allowList: ['10.0.0.0/8'], revokedAt: null });
    expect(await selectKeys(database, id)).toStrictEqual([row]);
    const { rows } = await database.query<{ all: string }>('select k::text as all from api_keys k where id = $1', [
      row.id,
    ]);
    expect(rows[0]?.all).not.toContain(keyText.slice(9));
  });

  it.each([
    ['', '0 characters'],
    ['x'.repeat(61), '61 characters'],
    ['a\nb', 'control'],
  ])('refuses the name %j', async (name, message) => {
    const { id } = await anAccount();
    await expect(
      createKey(deps, { caller: MEDIACTL, input: { accountId: id, mode: 'test', name, allowList: [] } }),
    ).rejects.toThrow(message);
  });

  // Promise, Authentication: 20 active keys, names of 60 characters, permanent revocation
  it('accepts a name of 60 characters, also outside ASCII', async () => {
    const { id } = await anAccount();
    const { row } = await createKey(deps, {
      caller: MEDIACTL,
      input: { accountId: id, mode: 'test', name: '🔑'.repeat(60), allowList: [] },
    });
    expect(row).toMatchObject({ livemode: false, name: '🔑'.repeat(60) });
  });

  it('refuses an unknown account', async () => {
    await expect(aKey('acc_nobody')).rejects.toThrow('There is no account `acc_nobody`');
  });

  // Promise, Authentication: 20 active keys, names of 60 characters, permanent revocation
  it('is one of at most 20 active ones, also when 30 are created in parallel', async () => {
    const { id } = await anAccount();
    const made = await Promise.allSettled(Array.from({ length: 30 }, () => aKey(id)));
    const refused = made.filter((attempt) => attempt.status === 'rejected');
    expect(refused).toHaveLength(10);
    expect(String(refused[0]?.reason)).toContain('20 active keys');
    const keys = await selectKeys(database, id);
    expect(keys).toHaveLength(20);
    await revokeKey(deps, { caller: MEDIACTL, input: { id: keys[0]?.id ?? '' } });
    await expect(aKey(id)).resolves.toBeDefined();
    await expect(aKey(id)).rejects.toThrow('Revoke one first');
  });

  // Promise, Authentication: 20 active keys, names of 60 characters, permanent revocation
  it('is revoked permanently, and a second revocation changes nothing', async () => {
    const { row } = await aKey((await anAccount()).id);
    const first = await revokeKey(deps, { caller: MEDIACTL, input: { id: row.id } });
    time = new Date(START.getTime() + 5000);
    expect(await revokeKey(deps, { caller: MEDIACTL, input: { id: row.id } })).toStrictEqual(first);
    expect(first.revokedAt).toStrictEqual(START);
    time = START;
    await expect(revokeKey(deps, { caller: MEDIACTL, input: { id: 'key_none' } })).rejects.toThrow(
      'There is no key `key_none`',
    );
  });
});

describe('findCaller', () => {
  const sent = (authorization: string | undefined) => ({ authorization, address: '192.0.2.7' });

  it('returns key and account for any spelling of the scheme', async () => {
    const account = await anAccount();
    const { row, keyText } = await aKey(account.id);
    const caller = {
      account,
      keyId: row.id,
      livemode: true,
      actor: { kind: 'api_key', keyId: row.id, address: '192.0.2.7' },
      allowList: ['10.0.0.0/8'],
    };
    expect(await findCaller(deps, sent(`Bearer ${keyText}`))).toStrictEqual(caller);
    expect(await findCaller(deps, sent(`bearer  ${keyText}`))).toStrictEqual(caller);
  });

  it.each([
    [undefined, 'missing_key'],
    ['', 'missing_key'],
    ['Bearer', 'missing_key'],
    ['Bearer ', 'missing_key'],
    ['Basic dXNlcjpwYXNz', 'missing_key'],
    [`svc_live_${'a'.repeat(32)}`, 'missing_key'],
    ['Bearer svc_live_short', 'invalid_key'],
    [`Bearer svc_prod_${'a'.repeat(32)}`, 'invalid_key'],
    [`Bearer svc_live_${'a'.repeat(32)}`, 'invalid_key'],
  ])('refuses %j with %s', async (authorization, code) => {
    await expect(findCaller(deps, sent(authorization))).rejects.toMatchObject({ code });
  });

  // Promise, Authentication: Malformed, unknown and revoked keys
  it('applies a revocation and a change of the account at the next request', async () => {
    const account = await anAccount();
    const { row, keyText } = await aKey(account.id);
    await findCaller(deps, sent(`Bearer ${keyText}`));
    await updateAccount(deps, { caller: MEDIACTL, input: { id: account.id, suspended: true } });
    expect(await findCaller(deps, sent(`Bearer ${keyText}`))).toMatchObject({ account: { suspended: true } });
    await revokeKey(deps, { caller: MEDIACTL, input: { id: row.id } });
    await expect(findCaller(deps, sent(`Bearer ${keyText}`))).rejects.toMatchObject({ code: 'revoked_key' });
  });

  // Promise, Authentication: Keys are stored as a digest under a pepper that can be replaced; secrets are encrypted under keys with ids
  it('refuses a key under another pepper', async () => {
    const { keyText } = await aKey((await anAccount()).id);
    await expect(findCaller({ ...deps, peppers: ['q'.repeat(32)] }, sent(`Bearer ${keyText}`))).rejects.toMatchObject({
      code: 'invalid_key',
    });
  });

  // Promise, Authentication: Keys are stored as a digest under a pepper that can be replaced; secrets are encrypted under keys with ids
  it('finds a key under an earlier pepper and stores it under the current one at its next use', async () => {
    const [present, earlier] = ['q'.repeat(32), pepper] as const;
    const { keyText } = await aKey((await anAccount()).id);
    const bearer = `Bearer ${keyText}`;
    const both = { ...deps, peppers: [present, earlier] as const };
    const callers = await Promise.all(Array.from({ length: 10 }, () => findCaller(both, sent(bearer))));
    expect(new Set(callers.map(({ keyId }) => keyId)).size).toBe(1);
    expect(await findCaller({ ...deps, peppers: [present] }, sent(bearer))).toMatchObject({ keyId: callers[0]?.keyId });
    await expect(findCaller({ ...deps, peppers: [earlier] }, sent(bearer))).rejects.toMatchObject({
      code: 'invalid_key',
    });
  });

  it('records the last use at most once a minute', async () => {
    const on = { ...deps, database: oneConnection };
    const account = await anAccount(on);
    const { keyText } = await aKey(account.id, on);
    const useAfter = async (seconds: number): Promise<Date | null | undefined> => {
      time = new Date(START.getTime() + seconds * 1000);
      await findCaller(on, sent(`Bearer ${keyText}`));
      return (await selectKeys(oneConnection, account.id))[0]?.lastUsedAt;
    };
    expect(await useAfter(0)).toStrictEqual(START);
    expect(await useAfter(59)).toStrictEqual(START);
    expect(await useAfter(60)).toStrictEqual(new Date(START.getTime() + 60_000));
    time = START;
  });

  it('records the first time that a key was sent over plain http', async () => {
    const account = await anAccount();
    const { keyText } = await aKey(account.id);
    await noteExposedKey(deps, `Bearer ${keyText}`);
    time = new Date(START.getTime() + 1000);
    await noteExposedKey(deps, `Bearer ${keyText}`);
    await noteExposedKey(deps, undefined);
    time = START;
    expect((await selectKeys(database, account.id))[0]?.exposedAt).toStrictEqual(START);
  });
});
