/**
 * How often somebody may be wrong. Every try counts before it is judged, so parallel guesses are no way around; a
 * right one takes back what it counted. An address is blocked sooner than a person, who cannot help being guessed at.
 */
import { countFailures, forgetFailures, insertFailures } from '#api/users/sign-in-failure-rows.ts';
import type { Queryable } from '#api/store/database.ts';
import { MediaError } from '#crds/media-error.ts';
import type { Clock } from '#crds/shared/clock.ts';

interface ThrottleDeps {
  readonly database: Queryable;
  readonly clock: Clock;
}

const WINDOW_MS = 15 * 60 * 1000;
const MOST = { pair: 5, address: 100, person: 200, code: 10 } as const;

interface Count {
  readonly subject: string;
  readonly most: number;
}

/** Of a sign-in by password. */
export function signInCounts({ email, address }: { email: string; address: string }): readonly Count[] {
  return [
    { subject: `pair:${address} ${email}`, most: MOST.pair },
    { subject: `address:${address}`, most: MOST.address },
    { subject: `person:${email}`, most: MOST.person },
  ];
}

/** Of the second step's codes, and of the password that a signed-in person gives again. */
export function codeCounts(userId: string): readonly Count[] {
  return [{ subject: `code:${userId}`, most: MOST.code }];
}

/** Counts the try. @throws MediaError rate_limited when one of the counts is over its most. */
export async function countTry({ database, clock }: ThrottleDeps, counts: readonly Count[]): Promise<void> {
  const now = clock.now();
  const subjects = counts.map(({ subject }) => subject);
  const since = new Date(now.getTime() - WINDOW_MS);
  await insertFailures(database, subjects, now);
  await forgetFailures(database, [], since);
  const found = await countFailures(database, subjects, since);
  if (counts.every(({ subject, most }) => (found.get(subject) ?? 0) <= most)) return;
  throw new MediaError('rate_limited', 'Too many wrong tries. Wait 15 minutes, then try again.', {
    retryAfterSeconds: WINDOW_MS / 1000,
  });
}

/** The try was right: those of this person from this address are forgotten. */
export async function forgetTries({ database, clock }: ThrottleDeps, counts: readonly Count[]): Promise<void> {
  const [own] = counts;
  if (own === undefined) return;
  await forgetFailures(database, [own.subject], new Date(clock.now().getTime() - WINDOW_MS));
}
