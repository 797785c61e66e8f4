import { setRevoked, type KeyRow } from '#api/accounts/key-rows.ts';
import type { Queryable } from '#api/store/database.ts';
import { MediaError } from '#crds/media-error.ts';
import type { Clock } from '#crds/shared/clock.ts';

/**
 * Revokes a key for good, from the next request on; its jobs keep running. A second call changes nothing.
 * @throws MediaError not_found.
 */
export async function revokeKey(
  { database, clock }: { readonly database: Queryable; readonly clock: Clock },
  id: string,
): Promise<KeyRow> {
  const row = await setRevoked(database, id, clock.now());
  if (row === null) throw new MediaError('not_found', `There is no key \`${id}\`. \`mediactl key list\` shows them.`);
  return row;
}
