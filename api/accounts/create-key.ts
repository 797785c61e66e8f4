import { lockAccount } from '#api/accounts/account-rows.ts';
import { parseAllowList } from '#api/accounts/allow-list.ts';
import { keyDigest, keyHint, newKeyText, type KeyMode, type NewWord, type Peppers } from '#api/accounts/api-key.ts';
import { countActiveKeys, insertKey, type KeyRow } from '#api/accounts/key-rows.ts';
import { checkedKeyName } from '#api/accounts/names.ts';
import type { Database, Queryable } from '#api/store/database.ts';
import type { NewId } from '#crds/ids.ts';
import { MediaError } from '#crds/media-error.ts';
import { LIMITS } from '#crds/plans.ts';
import type { Clock } from '#crds/shared/clock.ts';

interface CreateKeyDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly peppers: Peppers;
  readonly newWord?: NewWord;
}

interface NewKey {
  readonly accountId: string;
  readonly mode: KeyMode;
  readonly name: string;
  readonly allowList: readonly string[];
}

/**
 * Gives the new key's row and its text, which nobody can read again.
 * @throws MediaError not_found for the account; bad_request for name, allow-list or a 21st active key.
 */
export async function createKey(deps: CreateKeyDeps, input: NewKey): Promise<{ row: KeyRow; keyText: string }> {
  const keyText = newKeyText(input.mode, deps.newWord);
  const key = {
    id: deps.newId('key'),
    accountId: input.accountId,
    livemode: input.mode === 'live',
    name: checkedKeyName(input.name),
    hint: keyHint(keyText),
    allowList: parseAllowList(input.allowList),
    createdAt: deps.clock.now(),
  };
  await deps.database.transaction(async (tx) => {
    await refuseOneTooMany(tx, input.accountId);
    await insertKey(tx, { ...key, digest: keyDigest(deps.peppers[0], keyText) });
  });
  return { row: { ...key, lastUsedAt: null, exposedAt: null, revokedAt: null }, keyText };
}

async function refuseOneTooMany(tx: Queryable, accountId: string): Promise<void> {
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
