import type { Dependencies } from '#api/dependencies.ts';
import { isPassword } from '#api/users/password.ts';
import { reauthenticationCounts, countTry, forgetTry, signInCounts } from '#api/users/throttle.ts';
import { findPassword, selectCredentials } from '#api/users/user-rows.ts';
import type { User } from '#api/users/user.ts';
import { MediaError } from '#crds/contract/media-error.ts';

type SignInDeps = Pick<Dependencies, 'database' | 'clock'>;

interface SignIn {
  readonly email: string;
  readonly password: string;
  /** IP address of the caller. */
  readonly address: string;
}

/**
 * Returns the user of an e-mail address and a password, or null. Every login of the address is checked, so that the
 * response time does not reveal which one matched.
 * @throws MediaError rate_limited.
 */
export async function checkSignIn(deps: SignInDeps, { email, password, address }: SignIn): Promise<User | null> {
  const counting = await countTry(deps, signInCounts({ email, address }));
  const credentials = await selectCredentials(deps.database, email);
  if (credentials.length === 0) await isPassword(password, null);
  let found: User | null = null;
  for (const { user, password: stored } of credentials) {
    const matches = await isPassword(password, stored);
    if (matches) found ??= user;
  }
  if (found !== null) await forgetTry(deps, counting, { wholePair: credentials.length === 1 });
  return found;
}

/** Maximum age of the sign-in of a user without a password, in milliseconds. */
const MAX_SIGN_IN_AGE_MS = 10 * 60 * 1000;

interface Reauthentication {
  readonly user: Pick<User, 'id' | 'hasPassword'>;
  readonly session: { readonly digest: Buffer; readonly startedAt: Date };
  readonly password: string;
}

/**
 * Authenticates a signed-in user again: by the password or, without one, by the age of the sign-in.
 * @throws MediaError bad_request, rate_limited.
 */
export async function reauthenticate(deps: SignInDeps, { user, session, password }: Reauthentication): Promise<void> {
  if (!user.hasPassword) {
    if (deps.clock.now().getTime() - session.startedAt.getTime() <= MAX_SIGN_IN_AGE_MS) return;
    throw new MediaError(
      'bad_request',
      'You signed in more than 10 minutes ago and have no password to confirm this with. Sign out, sign in again, then repeat this.',
      { status: 403 },
    );
  }
  const counting = await countTry(deps, reauthenticationCounts(session.digest));
  if (!(await isPassword(password, await findPassword(deps.database, user.id)))) {
    throw new MediaError('bad_request', 'This is not your current password.', { param: 'current' });
  }
  await forgetTry(deps, counting, { wholePair: true });
}
