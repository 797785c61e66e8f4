import { lockAccount } from '#api/accounts/account-rows.ts';
import { parseAllowList } from '#api/accounts/allow-list.ts';
import { keyDigest, keyHint, newKeyText, type KeyMode, type Peppers } from '#api/accounts/api-key.ts';
import { countActiveKeys, insertKey, type KeyRow } from '#api/accounts/key-rows.ts';
import { checkedKeyName } from '#api/accounts/names.ts';
import { recordAudit, type Actor } from '#api/audit/audit.ts';
import type { Dependencies } from '#api/dependencies.ts';
import type { Queryable } from '#api/store/database.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';

interface CreateKeyDeps extends Pick<Dependencies, 'database' | 'clock' | 'newId'> {
  readonly peppers: Peppers;
}

interface NewKey {
  readonly accountId: string;
  readonly mode: KeyMode;
  readonly name: string;
  readonly allowList: readonly string[];
}

/**
 * Creates an API key. Returns its row and its text, which is not stored.
 * @throws MediaError not_found for the account; bad_request for name, allow-list or a 21st active key.
 */
export async function createKey(
  deps: CreateKeyDeps,
  { caller, input }: { caller: Actor; input: NewKey },
): Promise<{ row: KeyRow; keyText: string }> {
  const keyText = newKeyText(input.mode);
  const key = {
    id: deps.newId('key'),
    accountId: input.accountId,
    livemode: input.mode === 'live',
    name: checkedKeyName(input.name),
    hint: keyHint(keyText),
    allowList: parseAllowList(input.allowList),
    createdAt: deps.clock.now(),
  };
  const { id, accountId, createdAt } = key;
  await deps.database.transaction(async (tx) => {
    await refuseTooManyKeys(tx, accountId);
    await insertKey(tx, { ...key, digest: keyDigest(deps.peppers[0], keyText) });
    await recordAudit(tx, caller, { at: createdAt, action: 'key.create', target: id, accountId });
  });
  return { row: { ...key, lastUsedAt: null, exposedAt: null, revokedAt: null }, keyText };
}

async function refuseTooManyKeys(tx: Queryable, accountId: string): Promise<void> {
  if ((await lockAccount(tx, accountId)) === null) {
    throw new MediaError('not_found', `There is no account \`${accountId}\`. \`mediactl account list\` shows them.`, {
      param: 'account',
    });
  }
  const active = await countActiveKeys(tx, accountId);
  if (active < LIMITS.activeKeys) return;
  throw new MediaError(
    'bad_request',
    `The account has ${active} active keys; it may have ${LIMITS.activeKeys} at most. Revoke one first.`,
    { param: 'account' },
  );
}
