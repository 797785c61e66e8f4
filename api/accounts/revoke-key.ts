import { setRevoked, type KeyRow } from '#api/accounts/key-rows.ts';
import { recordAudit, type Actor } from '#api/audit/audit.ts';
import type { Dependencies } from '#api/dependencies.ts';
import { MediaError } from '#crds/contract/media-error.ts';

/**
 * Revokes a key permanently, from the next request on; its jobs keep running. A second call changes nothing.
 * @throws MediaError not_found
 */
export async function revokeKey(
  { database, clock }: Pick<Dependencies, 'database' | 'clock'>,
  { caller, input: { id } }: { caller: Actor; input: { readonly id: string } },
): Promise<KeyRow> {
  const at = clock.now();
  return database.transaction(async (tx) => {
    const row = await setRevoked(tx, id, at);
    if (row === null) throw new MediaError('not_found', `There is no key \`${id}\`. \`mediactl key list\` shows them.`);
    await recordAudit(tx, caller, { at, action: 'key.revoke', target: id, accountId: row.accountId });
    return row;
  });
}
