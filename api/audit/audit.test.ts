import { describe, expect, it } from 'vitest';
import { createAccount } from '#api/accounts/create-account.ts';
import { createKey } from '#api/accounts/create-key.ts';
import type { AccountCaller } from '#api/accounts/find-caller.ts';
import { revokeKey } from '#api/accounts/revoke-key.ts';
import { updateAccount } from '#api/accounts/update-account.ts';
import { MEDIACTL, recordAudit, type PersonActor } from '#api/audit/audit.ts';
import { selectAudit } from '#api/audit/audit-rows.ts';
import { deletePreset } from '#api/presets/delete-preset.ts';
import { savePreset } from '#api/presets/save-preset.ts';
import { makeSecretBox } from '#api/store/secret-box.ts';
import { acceptInvitation } from '#api/users/accept-invitation.ts';
import { changeCredential, useOneTimeLink } from '#api/users/change-credentials.ts';
import { changeMember } from '#api/users/change-member.ts';
import { inviteUser, withdrawInvitation } from '#api/users/invite-user.ts';
import { removeUser } from '#api/users/remove-user.ts';
import { makeSignInLink, resetUser } from '#api/users/reset-user.ts';
import { endSessions, startSession } from '#api/users/session.ts';
import { tokenDigest } from '#api/users/token.ts';
import {
  changeWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateWebhookSecret,
} from '#api/webhooks/change-webhook-endpoint.ts';
import { createWebhookEndpoint } from '#api/webhooks/create-webhook-endpoint.ts';
import { newId } from '#crds/contract/ids.ts';
import { systemClock } from '#crds/process/clock.ts';
import { testDatabase } from '#test/support/database.ts';
import { addPerson, invite } from '#test/support/people.ts';

const KEY = { kind: 'api_key', keyId: 'key_0123456789abcdefghij', address: '192.0.2.9' } as const;
const database = await testDatabase();
const deps = {
  database,
  clock: systemClock,
  newId,
  secretBox: makeSecretBox([{ id: 'a', key: Buffer.alloc(32, 1) }]),
  peppers: ['a pepper of at least 32 characters'] as const,
  privateTargets: [],
};
const address = '192.0.2.1';

const account = await createAccount(deps, {
  caller: MEDIACTL,
  input: { name: 'Acme', plan: 'payg', paymentMethod: true, features: [] },
});
const accountId = account.id;
const owner = await addPerson(deps, { email: 'owner@example.com', membership: { accountId, role: 'owner' } });
const person: PersonActor = { kind: 'person', user: owner, address };
const caller: AccountCaller = { account, livemode: true, actor: person };
const options = { image: { quality: 80 } };

let added = 0;
async function addMember() {
  added += 1;
  return addPerson(deps, { email: `member-${added}@example.com`, membership: { accountId, role: 'developer' } });
}
const aKey = () =>
  createKey(deps, { caller: person, input: { accountId, mode: 'test', name: 'server', allowList: [] } });
const anEndpoint = async () =>
  (await createWebhookEndpoint(deps, { caller, input: { url: 'https://example.com/hook' } })).endpoint;

/** Function that prepares a change and returns a function that makes it. */
type Prepare = () => Promise<() => Promise<unknown>>;

const CHANGES: readonly (readonly [action: string, prepare: Prepare])[] = [
  [
    'account.create',
    async () => () =>
      createAccount(deps, { caller: person, input: { name: 'B', plan: 'none', paymentMethod: false, features: [] } }),
  ],
  [
    'account.change',
    async () => () => updateAccount(deps, { caller: person, input: { id: accountId, plan: 'scale' } }),
  ],
  [
    'account.suspend',
    async () => () => updateAccount(deps, { caller: person, input: { id: accountId, suspended: true } }),
  ],
  [
    'account.reactivate',
    async () => () => updateAccount(deps, { caller: person, input: { id: accountId, suspended: false } }),
  ],
  [
    'account.spend_cap',
    async () => () => updateAccount(deps, { caller: person, input: { id: accountId, spendCapMicroUsd: 5 } }),
  ],
  ['key.create', async () => aKey],
  [
    'key.revoke',
    async () => {
      const { row } = await aKey();
      return () => revokeKey(deps, { caller: person, input: { id: row.id } });
    },
  ],
  ['preset.save', async () => () => savePreset(deps, { caller, input: { name: 'web', options } })],
  [
    'preset.delete',
    async () => {
      await savePreset(deps, { caller, input: { name: 'gone', options } });
      return () => deletePreset(deps, { caller, input: { idOrName: 'gone' } });
    },
  ],
  ['webhook.create', async () => anEndpoint],
  [
    'webhook.pause',
    async () => {
      const { id } = await anEndpoint();
      return () => changeWebhookEndpoint(deps, { caller, input: { id, enabled: false } });
    },
  ],
  [
    'webhook.rotate',
    async () => {
      const { id } = await anEndpoint();
      return () => rotateWebhookSecret(deps, { caller, input: { id } });
    },
  ],
  [
    'webhook.delete',
    async () => {
      const { id } = await anEndpoint();
      return () => deleteWebhookEndpoint(deps, { caller, input: { id } });
    },
  ],
  [
    'member.invite',
    async () => () =>
      inviteUser(deps, {
        caller: person,
        input: { email: 'new@example.com', membership: { accountId, role: 'owner' }, operator: false, as: 'owner' },
      }),
  ],
  [
    'member.withdraw',
    async () => {
      const email = 'withdrawn@example.com';
      await invite(deps, { email, membership: { accountId, role: 'owner' } });
      return () => withdrawInvitation(deps, { caller: person, input: { email, accountId } });
    },
  ],
  [
    'member.accept',
    async () => {
      added += 1;
      const email = `invited-${added}@example.com`;
      const token = await invite(deps, { email, membership: { accountId, role: 'developer' } });
      const acceptance = { passwordHash: 'hash' };
      return () => acceptInvitation(deps, { caller: { address }, input: { token, acceptance } });
    },
  ],
  [
    'member.change',
    async () => {
      const { id: userId } = await addMember();
      return () => changeMember(deps, { caller: person, input: { accountId, userId, role: 'owner' } });
    },
  ],
  [
    'password.change',
    async () => {
      const user = await addMember();
      const credential = { kind: 'password', hash: 'hash' } as const;
      const input = { session: Buffer.alloc(32), credential };
      return () => changeCredential(deps, { caller: { kind: 'person', user, address }, input });
    },
  ],
  [
    'password.reset',
    async () => {
      const { id: userId } = await addMember();
      const { link } = await resetUser(deps, { caller: MEDIACTL, input: { name: userId, secondStep: false } });
      const digest = tokenDigest(link.path.replace('/links/', ''));
      const input = { digest, userId, purpose: 'password', passwordHash: 'hash' } as const;
      return () => useOneTimeLink(deps, { caller: { address }, input });
    },
  ],
  [
    'sign_in.password',
    async () => () =>
      startSession(deps, { caller: { address, agent: 'test' }, input: { user: owner, how: 'password' } }),
  ],
  [
    'session.end',
    async () => {
      await startSession(deps, { caller: { address, agent: 'test' }, input: { user: owner, how: 'password' } });
      return () => endSessions(deps, { caller: person, input: { own: Buffer.alloc(32), ended: 'others' } });
    },
  ],
  [
    'user.reset',
    async () => {
      const { id } = await addMember();
      return () => resetUser(deps, { caller: person, input: { name: id, secondStep: false } });
    },
  ],
  [
    'user.sign_in_link',
    async () => {
      const { id } = await addMember();
      return () => makeSignInLink(deps, { caller: person, input: { name: id } });
    },
  ],
  [
    'user.remove',
    async () => {
      const { id } = await addMember();
      return () => removeUser(deps, { caller: person, input: { name: id, allowOwnerless: false } });
    },
  ],
];

const TABLES =
  'accounts api_keys presets webhook_endpoints invitations memberships users user_sessions user_links'.split(' ');

/** Returns the content of every table that a verb changes. */
async function stateOfTables(): Promise<unknown> {
  const tables = [];
  for (const table of TABLES) {
    tables.push((await database.query<{ row: string }>(`select t::text as row from ${table} t order by 1`)).rows);
  }
  return tables;
}

describe('an audited change', () => {
  it.each(CHANGES)('is recorded as %s with its person and address', async (action, prepare) => {
    const change = await prepare();
    const [before] = await selectAudit(database, { accountId: null, before: null, limit: 1 });
    await change();
    const entries = await selectAudit(database, { accountId: null, before: null, limit: 5 });
    const newer = entries.filter(({ id }) => id > (before?.id ?? 0));
    expect(newer).toMatchObject([{ action, address }]);
    expect(newer[0]?.userId).not.toBeNull();
  });

  it.each(CHANGES)('named %s is rolled back when its audit entry cannot be written', async (_action, prepare) => {
    const change = await prepare();
    const before = await stateOfTables();
    await database.query('alter table audit_log add constraint none check (false) not valid');
    try {
      await expect(change()).rejects.toThrow('violates check constraint "none"');
    } finally {
      await database.query('alter table audit_log drop constraint none');
    }
    expect(await stateOfTables()).toEqual(before);
  });

  it('made with mediactl is recorded under that name', async () => {
    await updateAccount(deps, { caller: MEDIACTL, input: { id: accountId, suspended: true } });
    const [entry] = await selectAudit(database, { accountId, before: null, limit: 1 });
    expect(entry).toMatchObject({ action: 'account.suspend', userId: null, email: 'mediactl', address: '' });
  });

  it('made with an API key is recorded with its id and address, without a person', async () => {
    await savePreset(deps, { caller: { ...caller, actor: KEY }, input: { name: 'web', options } });
    const [entry] = await selectAudit(database, { accountId, before: null, limit: 1 });
    expect(entry).toMatchObject({ action: 'preset.save', userId: null, email: KEY.keyId, address: KEY.address });
  });

  it('to a job with an API key is not recorded', async () => {
    const [before] = await selectAudit(database, { accountId, before: null, limit: 1 });
    const change = { at: deps.clock.now(), action: 'job.cancel', target: 'job_1', accountId };
    await database.transaction((tx) => recordAudit(tx, KEY, change));
    const [after] = await selectAudit(database, { accountId, before: null, limit: 1 });
    expect(after?.id).toBe(before?.id);
  });
});
