import { findAccount } from '#api/accounts/account-rows.ts';
import type { Database } from '#api/store/database.ts';
import { checkedEmail } from '#api/users/email-address.ts';
import { selectMemberships, setMembership } from '#api/users/membership-rows.ts';
import { makeLink, type OneTimeLink } from '#api/users/one-time-link.ts';
import { upsertUser } from '#api/users/user-rows.ts';
import type { Role, User } from '#api/users/user.ts';
import type { NewId } from '#crds/ids.ts';
import { MediaError } from '#crds/media-error.ts';
import type { Clock } from '#crds/shared/clock.ts';

interface InviteDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly newId: NewId;
}

interface Invitation {
  readonly email: string;
  /** null: no membership. */
  readonly membership: { readonly accountId: string; readonly role: Role } | null;
  readonly operator: boolean;
  /** An owner gets a link only for people who belong to that account alone: it lets its reader in as them. */
  readonly by: 'operator' | 'owner';
}

/**
 * Makes the user unless there is one, and the membership. With a link to set a password when there is none yet.
 * @throws MediaError bad_request for the address, not_found for the account.
 */
export async function inviteUser(
  deps: InviteDeps,
  { email, membership, operator, by }: Invitation,
): Promise<{ user: User; link: OneTimeLink | null }> {
  const { database, clock, newId } = deps;
  const at = clock.now();
  const address = checkedEmail(email);
  if (membership !== null && (await findAccount(database, membership.accountId)) === null) {
    throw new MediaError('not_found', `There is no account \`${membership.accountId}\`.`, { param: 'account' });
  }
  const user = await database.transaction(async (tx) => {
    const made = await upsertUser(tx, { id: newId('user'), email: address, operator, createdAt: at });
    if (membership !== null) await setMembership(tx, { userId: made.id, ...membership, at });
    return made;
  });
  const mayHaveLink = !user.hasPassword && (by === 'operator' || (await isOnlyIn(deps, user, membership?.accountId)));
  return { user, link: mayHaveLink ? await makeLink(deps, { userId: user.id, purpose: 'password' }) : null };
}

async function isOnlyIn({ database }: InviteDeps, user: User, accountId: string | undefined): Promise<boolean> {
  const memberships = await selectMemberships(database, user.id);
  return !user.operator && memberships.every((membership) => membership.accountId === accountId);
}
