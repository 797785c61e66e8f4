import { expect, it } from 'vitest';
import { selectAudit } from '#api/audit/audit-rows.ts';
import * as account from '#api/mediactl/account-commands.ts';
import * as key from '#api/mediactl/key-commands.ts';
import type { CommandResult } from '#api/mediactl/format-result.ts';
import * as user from '#api/mediactl/user-commands.ts';
import { newId } from '#crds/contract/ids.ts';
import { systemClock } from '#crds/process/clock.ts';
import { testDatabase } from '#test/support/database.ts';
import { addPerson } from '#test/support/people.ts';

const database = await testDatabase();
const peppers = ['a pepper of at least 32 characters'] as const;
const service = { database, clock: systemClock, newId, peppers, baseUrl: null, dashboardUrl: null };
const accountId = idOf(await account.create(service, { name: 'Acme', plan: 'payg' }));
const email = 'owner@example.com';
await addPerson(service, { email, membership: { accountId, role: 'owner' } });
const keyOptions = { account: accountId, mode: 'test', name: 'server' } as const;

function idOf(response: CommandResult): string {
  return 'object' in response ? String(response.object['id']) : '';
}

it.each<[action: string, target: () => string | null, command: () => Promise<unknown>]>([
  ['account.create', () => null, () => account.create(service, { name: 'B', plan: 'payg' })],
  ['account.change', () => accountId, () => account.set(service, accountId, { plan: 'scale', feature: ['video'] })],
  ['account.suspend', () => accountId, () => account.set(service, accountId, { suspended: true })],
  ['account.spend_cap', () => '12.5', () => account.set(service, accountId, { spendCap: 12_500_000 })],
  ['key.create', () => null, () => key.create(service, keyOptions)],
  ['key.revoke', () => null, async () => key.revoke(service, idOf(await key.create(service, keyOptions)))],
  [
    'member.invite',
    () => 'b@example.com',
    () => user.invite(service, { email: 'b@example.com', role: 'owner', operator: true }),
  ],
  ['user.reset', () => email, () => user.reset(service, email, {})],
  ['user.sign_in_link', () => email, () => user.signInLink(service, email)],
  ['user.remove', () => email, () => user.remove(service, email, { leaveWithoutOwner: true })],
])('mediactl records %s in the audit log', async (action, target, command) => {
  await command();
  const [entry] = await selectAudit(database, { accountId: null, before: null, limit: 1 });
  expect(entry).toMatchObject({ action, email: 'mediactl', userId: null });
  if (target() !== null) expect(entry?.target).toBe(target());
});
