import type { Dependencies } from '#api/dependencies.ts';
import { codeCounts, countTry, forgetTry, type Count } from '#api/users/throttle.ts';
import { stepOfCode } from '#api/users/totp.ts';
import { findTotpSecret, consumeTotpStep } from '#api/users/user-rows.ts';
import { MediaError } from '#crds/contract/media-error.ts';

type CodeDeps = Pick<Dependencies, 'database' | 'clock' | 'secretBox'>;

/** Returns the context that the encryption of a user's secret is bound to. */
export function totpContext(userId: string): string {
  return `user-totp:${userId}`;
}

interface CodeAttempt {
  readonly userId: string;
  /** IP address of the caller. */
  readonly address: string;
  readonly code: string;
}

/**
 * Verifies a code of the user's authenticator. Each code is accepted once.
 * @throws MediaError bad_request for a wrong or used code, rate_limited after several of them.
 */
export async function consumeCode(deps: CodeDeps, { userId, address, code }: CodeAttempt): Promise<void> {
  const { database, clock, secretBox } = deps;
  await counted({ database, clock }, codeCounts({ userId, address }), async () => {
    const sealed = await findTotpSecret(database, userId);
    const secret = sealed === null ? null : secretBox.open(sealed, totpContext(userId));
    const step = secret === null ? null : stepOfCode(secret, code, clock.now());
    if (step === null || !(await consumeTotpStep(database, userId, step))) throw wrongCode();
  });
}

/**
 * Verifies the first code of a secret that is being set up. Returns its time step.
 * @throws MediaError as `consumeCode`.
 */
export async function verifyFirstCode(
  { database, clock }: Pick<CodeDeps, 'database' | 'clock'>,
  { userId, address, code }: CodeAttempt,
  secret: string,
): Promise<number> {
  return counted({ database, clock }, codeCounts({ userId, address }), async () => {
    const step = stepOfCode(secret, code, clock.now());
    if (step === null) throw wrongCode();
    return step;
  });
}

async function counted<T>(
  deps: Pick<Dependencies, 'database' | 'clock'>,
  counts: readonly Count[],
  work: () => Promise<T>,
): Promise<T> {
  const counting = await countTry(deps, counts);
  const result = await work();
  await forgetTry(deps, counting, { wholePair: true });
  return result;
}

function wrongCode(): MediaError {
  return new MediaError('bad_request', 'The code is wrong or was used. Wait for the next one and check your clock.', {
    param: 'code',
  });
}
