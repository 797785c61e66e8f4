import type { Dependencies } from '#api/dependencies.ts';
import { selectCredentials } from '#api/users/user-rows.ts';
import { checkedPassword, hashPassword, isPassword } from '#api/users/password.ts';
import { countTry, signInCounts } from '#api/users/throttle.ts';
import { MediaError } from '#crds/contract/media-error.ts';

interface NewPassword {
  readonly email: string;
  readonly password: string;
  /** User who gets the password; null: a new login. */
  readonly userId: string | null;
  /** IP address of the caller. */
  readonly address: string;
}

/**
 * Returns the hash of a new password. E-mail address and password together identify a login, so the password of another
 * login of the same address is refused. The refusal reveals that password, so each call counts as a guess.
 * @throws MediaError bad_request, rate_limited.
 */
export async function newPasswordHash(
  deps: Pick<Dependencies, 'database' | 'clock'>,
  { email, password, userId, address }: NewPassword,
): Promise<string> {
  checkedPassword(password, { email });
  const others = (await selectCredentials(deps.database, email)).filter(({ user }) => user.id !== userId);
  if (others.some(({ password: stored }) => stored !== null)) {
    await countTry(deps, signInCounts({ email, address }));
    for (const other of others) {
      if (await isPassword(password, other.password)) {
        throw new MediaError(
          'bad_request',
          'You have a login with this address and password already: sign in with it, or choose another password.',
          { param: 'password' },
        );
      }
    }
  }
  return hashPassword(password);
}
