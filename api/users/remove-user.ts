import { recordAudit, type Actor } from '#api/audit/audit.ts';
import type { Dependencies } from '#api/dependencies.ts';
import type { Queryable } from '#api/store/database.ts';
import { lockAccount } from '#api/accounts/account-rows.ts';
import { deleteInvitationsOf } from '#api/users/invitation-rows.ts';
import { selectMemberships, selectSoleOwnerships } from '#api/users/membership-rows.ts';
import { userOf } from '#api/users/reset-user.ts';
import { deleteUser, selectUsersByEmail } from '#api/users/user-rows.ts';
import { MediaError } from '#crds/contract/media-error.ts';

interface UserRemoval {
  /** Id or address. */
  readonly name: string;
  /** True: removes also the only owner of an account. */
  readonly allowOwnerless: boolean;
}

interface RemovedUser {
  /** null: only invitations of the address were withdrawn. */
  readonly id: string | null;
  readonly email: string;
}

/**
 * Removes a user with all memberships and sessions, and withdraws the open invitations of the address. For an address
 * without a user only the invitations are withdrawn.
 * @throws MediaError not_found, bad_request when several people have the address, (409) for an account's only owner.
 */
export async function removeUser(
  { database, clock }: Pick<Dependencies, 'database' | 'clock'>,
  { caller, input }: { caller: Actor; input: UserRemoval },
): Promise<RemovedUser> {
  return database.transaction(async (tx) => {
    const removed = await removeIn(tx, input);
    const change = { action: 'user.remove', target: removed.email, accountId: null };
    await recordAudit(tx, caller, { at: clock.now(), ...change });
    return removed;
  });
}

async function removeIn(tx: Queryable, { name, allowOwnerless }: UserRemoval): Promise<RemovedUser> {
  const address = name.trim().toLowerCase();
  const isInvitedOnly =
    (await selectUsersByEmail(tx, address)).length === 0 && (await deleteInvitationsOf(tx, address)) > 0;
  if (isInvitedOnly) return { id: null, email: address };
  const { id, email } = await userOf({ database: tx }, name);
  for (const { accountId } of (await selectMemberships(tx, id)).toSorted(byAccount)) await lockAccount(tx, accountId);
  const ownerless = await selectSoleOwnerships(tx, id);
  if (ownerless.length > 0 && !allowOwnerless) throw onlyOwner(email, ownerless);
  await deleteInvitationsOf(tx, email);
  await deleteUser(tx, id);
  return { id, email };
}

/** Compares account ids. Accounts are locked in this order, so that two removals do not deadlock. */
function byAccount(one: { readonly accountId: string }, other: { readonly accountId: string }): number {
  return one.accountId < other.accountId ? -1 : 1;
}

function onlyOwner(email: string, accounts: readonly string[]): MediaError {
  return new MediaError(
    'bad_request',
    `${email} is the only owner of ${accounts.join(', ')}. Invite another owner first, or add --leave-without-owner.`,
    { status: 409 },
  );
}
