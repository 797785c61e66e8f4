import type { Queryable } from '#api/store/database.ts';
import type { SecretBox } from '#api/store/secret-box.ts';
import { codeCounts, countTry, forgetTries } from '#api/users/throttle.ts';
import { stepOfCode } from '#api/users/totp.ts';
import { findTotpSecret, takeTotpStep } from '#api/users/user-rows.ts';
import type { User } from '#api/users/user.ts';
import { MediaError } from '#crds/media-error.ts';
import type { Clock } from '#crds/shared/clock.ts';

interface TakeCodeDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly secretBox: SecretBox;
}

/** What the encryption of a user's secret is bound to. */
export function totpContext(userId: string): string {
  return `user-totp:${userId}`;
}

/**
 * Uses a code of the user's authenticator up; the first one confirms its secret.
 * @throws MediaError bad_request for a wrong or used code, rate_limited after ten of them.
 */
export async function takeCode(
  { database, clock, secretBox }: TakeCodeDeps,
  { id }: Pick<User, 'id'>,
  code: string,
): Promise<void> {
  const counts = codeCounts(id);
  await countTry({ database, clock }, counts);
  const sealed = await findTotpSecret(database, id);
  const secret = sealed === null ? null : secretBox.open(sealed, totpContext(id));
  const step = secret === null ? null : stepOfCode(secret, code, clock.now());
  if (step === null || !(await takeTotpStep(database, id, step))) {
    throw new MediaError('bad_request', 'The code is wrong or was used. Wait for the next one and check your clock.', {
      param: 'code',
    });
  }
  await forgetTries({ database, clock }, counts);
}
