import { beforeEach, describe, expect, it } from 'vitest';
import { createAccount } from '#api/accounts/create-account.ts';
import { MEDIACTL } from '#api/audit/audit.ts';
import { acceptInvitation } from '#api/users/accept-invitation.ts';
import { changeMember } from '#api/users/change-member.ts';
import { useOneTimeLink } from '#api/users/change-credentials.ts';
import { checkSignIn } from '#api/users/check-sign-in.ts';
import { firstOperator } from '#api/users/first-operator.ts';
import { deleteInvitation, selectInvitations } from '#api/users/invitation-rows.ts';
import { inviteUser } from '#api/users/invite-user.ts';
import { findLink } from '#api/users/link-rows.ts';
import { selectMembers, selectMemberships } from '#api/users/membership-rows.ts';
import { newPasswordHash } from '#api/users/new-password.ts';
import { makeLink } from '#api/users/one-time-link.ts';
import { hashPassword } from '#api/users/password.ts';
import { removeUser } from '#api/users/remove-user.ts';
import { resetUser } from '#api/users/reset-user.ts';
import { openSession, startSession } from '#api/users/session.ts';
import { tokenDigest } from '#api/users/token.ts';
import { findUser, selectUsersByEmail, setPassword } from '#api/users/user-rows.ts';
import type { Role } from '#api/users/user.ts';
import { newId } from '#crds/contract/ids.ts';
import { testDatabase } from '#test/support/database.ts';
import { addPerson, invite, PASSWORD } from '#test/support/people.ts';

const database = await testDatabase();
let now = new Date('2026-11-01T00:00:00Z');
const clock = { now: () => now };
const deps = { database, clock, newId };
const visitor = { address: '192.0.2.1', agent: 'test' };
const STRANGER = 'stranger@example.com';
const later = (ms: number): void => void (now = new Date(now.getTime() + ms));
const HOUR_MS = 3600 * 1000;

let account: string;
beforeEach(async () => {
  await database.query('delete from invitations');
  await database.query('delete from users');
  account = await newAccount();
});

async function newAccount(): Promise<string> {
  const { id } = await createAccount(deps, {
    caller: MEDIACTL,
    input: { name: 'a', plan: 'payg', paymentMethod: true, features: [] },
  });
  return id;
}

const member = (accountId: string, role: Role = 'developer') => ({ accountId, role });
const owner = () => addPerson(deps, { email: 'owner@example.com', membership: member(account, 'owner') });
const passwordHash = hashPassword('another that nobody guesses');
const accept = async (token: string) =>
  acceptInvitation(deps, { caller: visitor, input: { token, acceptance: { passwordHash: await passwordHash } } });
const actor = (id: string) => ({ kind: 'person', user: { id, email: 'x@example.com' }, address: '192.0.2.1' }) as const;
const sessionOf = (user: { id: string; email: string; generation: number }) =>
  startSession(deps, { caller: visitor, input: { user, how: 'password' } });

describe('an invitation', () => {
  it('creates no membership before it is accepted', async () => {
    const token = await invite(deps, { email: STRANGER, membership: member(account) });
    expect(await selectMembers(database, account)).toEqual([]);
    await accept(token);
    expect(await selectMembers(database, account)).toMatchObject([{ email: STRANGER, role: 'developer' }]);
  });

  it('grants no rights to a login that somebody else has created for the address', async () => {
    const attacker = await addPerson(deps, { email: STRANGER, membership: member(account) });
    const session = await sessionOf(attacker);
    const token = await invite(deps, { email: STRANGER, membership: member(await newAccount()), operator: true });
    const real = await accept(token);
    expect(real).toMatchObject({ operator: true });
    expect(real.id).not.toBe(attacker.id);
    expect((await openSession(deps, session))?.user).toMatchObject({ id: attacker.id, operator: false });
    expect(await selectMemberships(database, attacker.id)).toMatchObject([{ accountId: account }]);
  });

  it('grants its sender no access to the existing login of the address', async () => {
    const person = await addPerson(deps, { email: STRANGER, membership: member(account, 'owner') });
    const other = await newAccount();
    const forged = await accept(await invite(deps, { email: STRANGER, membership: member(other) }));
    expect(forged.id).not.toBe(person.id);
    expect(await selectMemberships(database, forged.id)).toMatchObject([{ accountId: other }]);
    expect(await checkSignIn(deps, { email: STRANGER, password: PASSWORD, address: '192.0.2.9' })).toMatchObject({
      id: person.id,
    });
  });

  it('can be accepted by a signed-in login of its address only', async () => {
    const person = await addPerson(deps, { email: STRANGER, membership: member(account) });
    const thief = await addPerson(deps, { email: 'thief@example.com', membership: member(account) });
    const other = await newAccount();
    const token = await invite(deps, { email: STRANGER, membership: member(other) });
    await expect(
      acceptInvitation(deps, { caller: visitor, input: { token, acceptance: { userId: thief.id } } }),
    ).rejects.toThrow('This invitation is for');
    await acceptInvitation(deps, { caller: visitor, input: { token, acceptance: { userId: person.id } } });
    expect(await selectMemberships(database, person.id)).toHaveLength(2);
  });

  it('is accepted once when it is accepted in parallel', async () => {
    const token = await invite(deps, { email: STRANGER, membership: member(account) });
    const outcomes = await Promise.allSettled([accept(token), accept(token), accept(token)]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await selectMembers(database, account)).toHaveLength(1);
  });

  it.each<[string, (token: string) => Promise<unknown>]>([
    ['withdrawn', () => deleteInvitation(database, { email: STRANGER, accountId: account })],
    ['replaced by a newer one', () => invite(deps, { email: STRANGER, membership: member(account) })],
    ['older than 72 hours', async () => later(72 * HOUR_MS)],
    ['accepted', (token) => accept(token)],
    [
      'withdrawn with everything of the address',
      () => removeUser(deps, { caller: MEDIACTL, input: { name: STRANGER, allowOwnerless: false } }),
    ],
  ])('is refused after it was %s', async (_what, end) => {
    const token = await invite(deps, { email: STRANGER, membership: member(account) });
    await end(token);
    await expect(accept(token)).rejects.toThrow('This link was used, was withdrawn');
  });

  it.each(['read_only', null] as const)('ends when the role of the owner who sent it becomes %s', async (role) => {
    const [first, second] = [await owner(), 'second@example.com'];
    const { id } = await addPerson(deps, { email: second, membership: member(account, 'owner') });
    const by = actor(first.id);
    const { link } = await inviteUser(deps, {
      caller: by,
      input: { email: STRANGER, membership: member(account), operator: false, as: 'owner' },
    });
    await changeMember(deps, { caller: actor(id), input: { accountId: account, userId: first.id, role } });
    await expect(accept(link.path.replace('/links/', ''))).rejects.toThrow('This link was used, was withdrawn');
    expect(await selectInvitations(database, account, now)).toEqual([]);
  });

  it('does not add a second member of the same address to an account', async () => {
    const person = await addPerson(deps, { email: STRANGER, membership: member(account) });
    const by = actor((await owner()).id);
    const again = inviteUser(deps, {
      caller: by,
      input: { email: STRANGER, membership: member(account), operator: false, as: 'owner' },
    });
    await expect(again).rejects.toThrow('is a member already');
    const token = await invite(deps, { email: STRANGER, membership: member(account, 'owner') });
    await expect(accept(token)).rejects.toThrow('is a member of this account already');
    await acceptInvitation(deps, { caller: visitor, input: { token, acceptance: { userId: person.id } } });
    expect((await selectMembers(database, account)).find(({ email }) => email === STRANGER)?.role).toBe('owner');
  });

  it('cannot be sent by a former owner', async () => {
    const { id } = await addPerson(deps, { email: 'dev@example.com', membership: member(account) });
    const by = actor(id);
    const sent = inviteUser(deps, {
      caller: by,
      input: { email: STRANGER, membership: member(account), operator: false, as: 'owner' },
    });
    await expect(sent).rejects.toThrow('Only an owner');
  });

  it.each(['a\u202eb@example.com', 'a\u200b@example.com', 'ab\u001b[2J@example.com'])(
    'is refused for the address %j, which looks like another one',
    async (email) => {
      await expect(invite(deps, { email, membership: member(account) })).rejects.toThrow('an invisible character');
    },
  );
});

describe('a one-time link into a login', () => {
  it.each<[string, (user: { id: string; generation: number }) => Promise<unknown>]>([
    ['another one is created', ({ id }) => makeLink(database, { userId: id, purpose: 'sign_in', at: now })],
    [
      'an invitation is accepted with that login',
      async ({ id }) => {
        const token = await invite(deps, { email: STRANGER, membership: member(await newAccount()) });
        return acceptInvitation(deps, { caller: visitor, input: { token, acceptance: { userId: id } } });
      },
    ],
    [
      'the user is removed',
      ({ id }) => removeUser(deps, { caller: MEDIACTL, input: { name: id, allowOwnerless: true } }),
    ],
  ])('ends when %s', async (_what, end) => {
    const person = await addPerson(deps, { email: STRANGER, membership: member(account) });
    const { link } = await resetUser(deps, { caller: MEDIACTL, input: { name: STRANGER, secondStep: false } });
    const digest = tokenDigest(link.path.replace('/links/', ''));
    expect(await findLink(database, digest, now)).toMatchObject({ userId: person.id });
    await end(person);
    expect(await findLink(database, digest, now)).toBeNull();
  });

  it('changes nothing before it is used and ends every session when it is', async () => {
    const person = await addPerson(deps, { email: STRANGER, membership: member(account) });
    await database.query("update users set totp_secret = '\\x00', totp_step = 1 where id = $1", [person.id]);
    const session = await sessionOf(person);
    const { link } = await resetUser(deps, { caller: MEDIACTL, input: { name: STRANGER, secondStep: true } });
    expect(await findUser(database, person.id)).toMatchObject({ hasSecondStep: true });
    const digest = tokenDigest(link.path.replace('/links/', ''));
    const use = { digest, userId: person.id, purpose: 'password_and_second_step' } as const;
    const input = { ...use, passwordHash: await passwordHash };
    const after = await useOneTimeLink(deps, { caller: visitor, input });
    expect(after).toMatchObject({ hasSecondStep: false });
    expect(await openSession(deps, session)).toBeNull();
    expect(await useOneTimeLink(deps, { caller: visitor, input })).toBeNull();
  });

  it('needs the id of the user when several users have the address', async () => {
    await addPerson(deps, { email: STRANGER, membership: member(account) });
    await accept(await invite(deps, { email: STRANGER, membership: member(await newAccount()) }));
    await expect(resetUser(deps, { caller: MEDIACTL, input: { name: STRANGER, secondStep: false } })).rejects.toThrow(
      'Name one by its id',
    );
    const [first] = await selectUsersByEmail(database, STRANGER);
    expect(
      (await resetUser(deps, { caller: MEDIACTL, input: { name: first?.id ?? '', secondStep: false } })).user,
    ).toEqual(first);
  });
});

describe('a session', () => {
  it('ends at once when the password was changed during the sign-in', async () => {
    const person = await addPerson(deps, { email: STRANGER, membership: member(account) });
    const checked = await checkSignIn(deps, { email: STRANGER, password: PASSWORD, address: '192.0.2.1' });
    await setPassword(database, person, await passwordHash);
    expect(await openSession(deps, await sessionOf(checked ?? person))).toBeNull();
  });
});

describe('a login', () => {
  it('needs another password than other logins of its address, and a new password counts as a guess', async () => {
    await addPerson(deps, { email: STRANGER, membership: member(account) });
    const guess = { email: STRANGER, userId: null, address: '192.0.2.77' };
    await expect(newPasswordHash(deps, { ...guess, password: PASSWORD })).rejects.toThrow('You have a login');
    for (let tries = 0; tries < 4; tries += 1)
      await newPasswordHash(deps, { ...guess, password: `guess number ${tries}` });
    await expect(newPasswordHash(deps, { ...guess, password: PASSWORD })).rejects.toThrow('Too many failed attempts');
  });

  it('is deleted with its last membership', async () => {
    const by = (await owner()).id;
    for (const _round of [1, 2, 3]) {
      const person = await addPerson(deps, { email: STRANGER, membership: member(account) });
      await changeMember(deps, { caller: actor(by), input: { accountId: account, userId: person.id, role: null } });
    }
    expect(await selectUsersByEmail(database, STRANGER)).toEqual([]);
  });

  it('of the first operator is never one that a member has set up for the same address', async () => {
    const planted = await addPerson(deps, { email: 'operator@localhost', membership: member(account) });
    const first = await firstOperator(deps);
    expect(first.id).not.toBe(planted.id);
    expect(await firstOperator(deps)).toMatchObject({ id: first.id, operator: true });
  });
});

describe('the last owner', () => {
  it.each(['developer', 'read_only', null] as const)('cannot become %s', async (role) => {
    const { id } = await owner();
    const change = changeMember(deps, { caller: actor(id), input: { accountId: account, userId: id, role } });
    await expect(change).rejects.toThrow('The account needs an owner');
  });

  it('cannot be removed when other owners are only invited', async () => {
    const { id } = await owner();
    await invite(deps, { email: STRANGER, membership: member(account, 'owner') });
    const change = changeMember(deps, { caller: actor(id), input: { accountId: account, userId: id, role: null } });
    await expect(change).rejects.toThrow('The account needs an owner');
  });

  it('stays when two owners remove each other in parallel', async () => {
    for (const round of Array.from({ length: 20 }, (_, index) => index)) {
      const here = await newAccount();
      const [one, two] = await Promise.all(
        [1, 2].map((n) => addPerson(deps, { email: `o${round}-${n}@example.com`, membership: member(here, 'owner') })),
      );
      const remove = (by: string, userId: string) =>
        changeMember(deps, { caller: actor(by), input: { accountId: here, userId, role: null } });
      const [first, second] = [one?.id ?? '', two?.id ?? ''];
      const outcomes = await Promise.allSettled([remove(first, second), remove(second, first)]);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await selectMembers(database, here)).toMatchObject([{ role: 'owner' }]);
    }
  });

  it('can be removed by an operator only with an explicit flag', async () => {
    const { id } = await owner();
    await expect(removeUser(deps, { caller: MEDIACTL, input: { name: id, allowOwnerless: false } })).rejects.toThrow(
      'is the only owner of',
    );
    await removeUser(deps, { caller: MEDIACTL, input: { name: id, allowOwnerless: true } });
    expect(await selectMembers(database, account)).toEqual([]);
  });
});

describe('a member', () => {
  it('is not added again by a late change of role after the removal', async () => {
    const by = (await owner()).id;
    const { id } = await addPerson(deps, { email: STRANGER, membership: member(account) });
    await changeMember(deps, { caller: actor(by), input: { accountId: account, userId: id, role: null } });
    const change = changeMember(deps, { caller: actor(by), input: { accountId: account, userId: id, role: 'owner' } });
    await expect(change).rejects.toThrow('no longer a member of the account');
  });

  it('cannot change other members after losing the role of owner', async () => {
    const [first, second] = [await owner(), 'second@example.com'];
    const { id } = await addPerson(deps, { email: second, membership: member(account, 'owner') });
    await changeMember(deps, { caller: actor(id), input: { accountId: account, userId: first.id, role: 'developer' } });
    const change = changeMember(deps, {
      caller: actor(first.id),
      input: { accountId: account, userId: id, role: null },
    });
    await expect(change).rejects.toThrow('Only an owner');
  });
});
