import { findAccount } from '#api/accounts/account-rows.ts';
import type { Database } from '#api/store/database.ts';
import { selectMemberships, setMembership } from '#api/users/membership-rows.ts';
import { makeLink, type OneTimeLink } from '#api/users/one-time-link.ts';
import { findUserByEmail, setTotpSecret, upsertUser } from '#api/users/user-rows.ts';
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

const MOST_CHARACTERS = 200;

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

/**
 * A link by which the user sets a new password; the old one works until then. `secondStep`: the codes are switched
 * off, for who has lost the authenticator.
 * @throws MediaError not_found.
 */
export async function resetUser(
  deps: InviteDeps,
  { email, secondStep }: { email: string; secondStep: boolean },
): Promise<OneTimeLink> {
  const user = await userOf(deps, email);
  if (secondStep) await setTotpSecret(deps.database, user.id, null);
  return makeLink(deps, { userId: user.id, purpose: 'password' });
}

/** @throws MediaError not_found. */
export async function userOf({ database }: Pick<InviteDeps, 'database'>, email: string): Promise<User> {
  const user = await findUserByEmail(database, email.trim().toLowerCase());
  if (user !== null) return user;
  throw new MediaError('not_found', `There is no user \`${email.slice(0, MOST_CHARACTERS)}\`.`, { param: 'email' });
}

/** In lower case. @throws MediaError bad_request. */
export function checkedEmail(email: string): string {
  const address = email.trim().toLowerCase();
  if (address.length <= MOST_CHARACTERS && /^[^\s@<>"]+@[^\s@<>"]+$/.test(address)) return address;
  throw new MediaError('bad_request', 'This is no e-mail address; it looks like name@example.com.', { param: 'email' });
}
