/**
 * Sign-in by an identity provider. Issuer and subject identify a login once they are bound to it. The e-mail address
 * alone never binds them, because another person may have set up a login for it. They are bound:
 *
 * - to the login that the browser is signed in with, when the provider has verified its address;
 * - to a new login without membership, when the sign-in was started from an open invitation of the verified address.
 */
import type { Dependencies } from '#api/dependencies.ts';
import { findInvitation } from '#api/users/invitation-rows.ts';
import { tokenDigest } from '#api/users/token.ts';
import { bindIdentity, findUser, findUserByIdentity, insertUser } from '#api/users/user-rows.ts';
import type { User } from '#api/users/user.ts';

type ProviderUserDeps = Pick<Dependencies, 'database' | 'clock' | 'newId'>;

interface ProviderSignIn {
  /** `email` null: the provider has verified no address. */
  readonly identity: { readonly id: string; readonly email: string | null };
  /** User of the browser's session; null: none. */
  readonly signedIn: User | null;
  /** Token of the invitation that the sign-in was started from; null: none. */
  readonly link: string | null;
}

/** Returns the login of the identity, and binds one when allowed; null otherwise. */
export async function findProviderUser(deps: ProviderUserDeps, signIn: ProviderSignIn): Promise<User | null> {
  const { identity, signedIn } = signIn;
  const known = await findUserByIdentity(deps.database, identity.id);
  if (known !== null || identity.email === null) return known;
  if (signedIn?.email === identity.email && (await bindIdentity(deps.database, signedIn.id, identity.id))) {
    return signedIn;
  }
  return signedIn === null ? invitedUser(deps, signIn) : null;
}

async function invitedUser({ database, clock, newId }: ProviderUserDeps, { identity, link }: ProviderSignIn) {
  const createdAt = clock.now();
  const invitation = link === null ? null : await findInvitation(database, tokenDigest(link), createdAt);
  if (invitation === null || invitation.email !== identity.email) return null;
  const id = newId('user');
  const { email } = invitation;
  await insertUser(database, { id, email, operator: false, password: null, identity: identity.id, createdAt });
  return findUser(database, id);
}
