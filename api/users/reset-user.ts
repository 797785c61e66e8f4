import type { Database, Queryable } from '#api/store/database.ts';
import { makeLink, type OneTimeLink } from '#api/users/one-time-link.ts';
import { findUserByEmail, setTotpSecret } from '#api/users/user-rows.ts';
import type { User } from '#api/users/user.ts';
import { MediaError } from '#crds/media-error.ts';
import type { Clock } from '#crds/shared/clock.ts';

const MOST_SHOWN = 200;

/**
 * A link by which the user sets a new password; the old one works until then. `secondStep`: the codes are switched
 * off, for who has lost the authenticator.
 * @throws MediaError not_found.
 */
export async function resetUser(
  deps: { readonly database: Database; readonly clock: Clock },
  { email, secondStep }: { email: string; secondStep: boolean },
): Promise<OneTimeLink> {
  const user = await userOf(deps, email);
  if (secondStep) await setTotpSecret(deps.database, user.id, null);
  return makeLink(deps, { userId: user.id, purpose: 'password' });
}

/** The user of an address as it was typed. @throws MediaError not_found. */
export async function userOf({ database }: { readonly database: Queryable }, email: string): Promise<User> {
  const user = await findUserByEmail(database, email.trim().toLowerCase());
  if (user !== null) return user;
  throw new MediaError('not_found', `There is no user \`${email.slice(0, MOST_SHOWN)}\`.`, { param: 'email' });
}
