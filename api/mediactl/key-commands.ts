import { findAccount } from '#api/accounts/account-rows.ts';
import type { KeyMode } from '#api/accounts/api-key.ts';
import { createKey } from '#api/accounts/create-key.ts';
import { selectKeys, type KeyRow } from '#api/accounts/key-rows.ts';
import { revokeKey } from '#api/accounts/revoke-key.ts';
import type { Service } from '#api/mediactl/open-service.ts';
import type { Answer } from '#api/mediactl/print.ts';
import { MediaError } from '#crds/media-error.ts';

interface CreateOptions {
  readonly account: string;
  readonly mode: KeyMode;
  readonly name: string;
  readonly allow?: readonly string[];
}

export async function create(service: Service, options: CreateOptions): Promise<Answer> {
  const { account, mode, name, allow = [] } = options;
  const { row, keyText } = await createKey(service, { accountId: account, mode, name, allowList: allow });
  const { id, ...fields } = keyFields(row);
  return { object: { id, key: keyText, ...fields }, note: '\nKeep the key now: it is never shown again.' };
}

export async function revoke(service: Service, id: string): Promise<Answer> {
  return { object: listedFields(await revokeKey(service, id)) };
}

export async function list({ database }: Service, { account = null }: { account?: string | null }): Promise<Answer> {
  if (account !== null && (await findAccount(database, account)) === null) {
    throw new MediaError('not_found', `There is no account \`${account}\`. \`mediactl account list\` shows them.`);
  }
  return { list: (await selectKeys(database, account)).map((row) => listedFields(row)) };
}

function keyFields(row: KeyRow) {
  return {
    id: row.id,
    account: row.accountId,
    mode: row.livemode ? 'live' : 'test',
    name: row.name,
    allow_list: row.allowList,
    created_at: row.createdAt.toISOString(),
    revoked_at: row.revokedAt?.toISOString() ?? null,
  };
}

function listedFields(row: KeyRow) {
  return {
    ...keyFields(row),
    hint: row.hint,
    last_used_at: row.lastUsedAt?.toISOString() ?? null,
    exposed_at: row.exposedAt?.toISOString() ?? null,
  };
}
