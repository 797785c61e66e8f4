import { findAccount } from '#api/accounts/account-rows.ts';
import type { KeyMode } from '#api/accounts/api-key.ts';
import { createKey } from '#api/accounts/create-key.ts';
import { selectKeys, type KeyRow } from '#api/accounts/key-rows.ts';
import { MEDIACTL } from '#api/audit/audit.ts';
import { revokeKey } from '#api/accounts/revoke-key.ts';
import type { MediactlService } from '#api/mediactl/open-service.ts';
import type { CommandResult } from '#api/mediactl/format-result.ts';
import { MediaError } from '#crds/contract/media-error.ts';

interface CreateOptions {
  readonly account: string;
  readonly mode: KeyMode;
  readonly name: string;
  readonly allow?: readonly string[];
}

/** Creates a key and returns its fields, with the text of the key. */
export async function create(service: MediactlService, options: CreateOptions): Promise<CommandResult> {
  const { account, mode, name, allow = [] } = options;
  const input = { accountId: account, mode, name, allowList: allow };
  const { row, keyText } = await createKey(service, { caller: MEDIACTL, input });
  const { id, ...fields } = keyFields(row);
  return { object: { id, key: keyText, ...fields }, note: '\nSave the key now: it is not shown again.' };
}

/** Revokes a key and returns its fields. @throws MediaError not_found */
export async function revoke(service: MediactlService, id: string): Promise<CommandResult> {
  return { object: listedFields(await revokeKey(service, { caller: MEDIACTL, input: { id } })) };
}

/** Lists the keys of an account, or of all accounts. @throws MediaError not_found */
export async function list(
  { database }: MediactlService,
  { account = null }: { account?: string | null },
): Promise<CommandResult> {
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
