import { describe, expect, it } from 'vitest';
import { createAccount } from '#api/accounts/create-account.ts';
import { MEDIACTL } from '#api/audit/audit.ts';
import type { MediactlService } from '#api/mediactl/open-service.ts';
import { invite, list, remove, reset, signInLink } from '#api/mediactl/user-commands.ts';
import { newId } from '#crds/contract/ids.ts';
import { systemClock } from '#crds/process/clock.ts';
import { testDatabase } from '#test/support/database.ts';
import { addPerson } from '#test/support/people.ts';

const database = await testDatabase();
const service: MediactlService = {
  database,
  clock: systemClock,
  newId,
  peppers: ['p'],
  baseUrl: 'https://m.example',
  dashboardUrl: 'https://m.example/dashboard',
};
const newAccountId = async () =>
  (
    await createAccount(service, {
      caller: MEDIACTL,
      input: { name: 'a', plan: 'payg', paymentMethod: true, features: [] },
    })
  ).id;
const listUsers = async () => ((await list(service)) as { list: readonly Record<string, unknown>[] }).list;

describe('mediactl user', () => {
  it('prints an invitation link without creating a user', async () => {
    const accountId = await newAccountId();
    const response = await invite(service, {
      email: 'Ada@Example.com',
      account: accountId,
      role: 'owner',
      operator: true,
    });
    expect(response).toMatchObject({
      object: { email: 'ada@example.com', account: accountId, role: 'owner', operator: true },
    });
    expect(response).toMatchObject({
      object: { link: expect.stringMatching(/^https:\/\/m\.example\/dashboard\/links\/[\w-]{43}$/) },
    });
    expect(await listUsers()).toEqual([]);
    expect(await remove(service, 'ada@example.com', {})).toMatchObject({ object: { id: null, deleted: true } });
  });

  it('requires the id of a user whose e-mail address several users share', async () => {
    const [first, second] = [await newAccountId(), await newAccountId()];
    const email = 'grace@example.com';
    await addPerson(service, { email, membership: { accountId: first, role: 'owner' } });
    const { id } = await addPerson(service, { email, membership: { accountId: second, role: 'owner' } });
    await expect(reset(service, email, {})).rejects.toThrow('Name one by its id');
    await expect(signInLink(service, email)).rejects.toThrow('Name one by its id');
    await expect(remove(service, email, {})).rejects.toThrow('Name one by its id');
    expect(await reset(service, id, {})).toMatchObject({ object: { id, email } });
    expect(await signInLink(service, id)).toMatchObject({ object: { id, email } });
    await expect(remove(service, id, {})).rejects.toThrow(`is the only owner of ${second}`);
    await remove(service, id, { leaveWithoutOwner: true });
    expect(await listUsers()).toMatchObject([{ email, accounts: [`${first}:owner`] }]);
  });
});
