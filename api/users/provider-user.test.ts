import { beforeEach, describe, expect, it } from 'vitest';
import { createAccount } from '#api/accounts/create-account.ts';
import { MEDIACTL } from '#api/audit/audit.ts';
import { selectMemberships } from '#api/users/membership-rows.ts';
import { findProviderUser } from '#api/users/provider-user.ts';
import { newId } from '#crds/contract/ids.ts';
import { systemClock } from '#crds/process/clock.ts';
import { testDatabase } from '#test/support/database.ts';
import { addPerson, invite } from '#test/support/people.ts';

const database = await testDatabase();
const deps = { database, clock: systemClock, newId };
const { id: accountId } = await createAccount(deps, {
  caller: MEDIACTL,
  input: { name: 'a', plan: 'payg', paymentMethod: true, features: [] },
});
const membership = { accountId, role: 'developer' } as const;
const EMAIL = 'linus@example.com';
const identity = { id: 'https://login.example.com 42', email: EMAIL };

beforeEach(async () => {
  await database.query('delete from invitations');
  await database.query('delete from users');
});

describe('a sign-in at the identity provider', () => {
  it('creates a login without membership from the link of an invitation and finds it afterwards', async () => {
    const link = await invite(deps, { email: EMAIL, membership });
    const user = await findProviderUser(deps, { identity, signedIn: null, link });
    expect(user).toMatchObject({ email: EMAIL, hasPassword: false, hasIdentity: true });
    expect(await selectMemberships(database, user?.id ?? '')).toEqual([]);
    expect(await findProviderUser(deps, { identity, signedIn: null, link: null })).toEqual(user);
  });

  it('does not open a login that somebody else has set up for the address', async () => {
    const planted = await addPerson(deps, { email: EMAIL, membership });
    expect(await findProviderUser(deps, { identity, signedIn: null, link: null })).toBeNull();
    const link = await invite(deps, { email: EMAIL, membership: null, operator: true });
    expect((await findProviderUser(deps, { identity, signedIn: null, link }))?.id).not.toBe(planted.id);
  });

  it('is bound to the signed-in login of the same address', async () => {
    const user = await addPerson(deps, { email: EMAIL, membership });
    expect(await findProviderUser(deps, { identity, signedIn: user, link: null })).toEqual(user);
    expect(await findProviderUser(deps, { identity, signedIn: null, link: null })).toMatchObject({ id: user.id });
  });

  it.each([
    ['an invitation of another address', { ...identity, email: 'mallory@example.com' }],
    ['an address that is not verified', { ...identity, email: null }],
  ])('is refused with %s', async (_what, other) => {
    const link = await invite(deps, { email: EMAIL, membership });
    const user = await addPerson(deps, { email: 'grace@example.com', membership });
    expect(await findProviderUser(deps, { identity: other, signedIn: null, link })).toBeNull();
    expect(await findProviderUser(deps, { identity: other, signedIn: user, link })).toBeNull();
  });

  it('is refused with a link of no open invitation', async () => {
    expect(await findProviderUser(deps, { identity, signedIn: null, link: 'nonsense' })).toBeNull();
  });
});
