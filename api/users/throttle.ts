/**
 * Throttling of wrong passwords and codes. Counters belong to the caller's network, so a blocked network blocks nobody
 * else. A refused try is not counted.
 *
 * - pair (network and login): some tries are free. Each further wrong one doubles the wait, from 15 minutes to a day.
 * - network, for all logins: a fixed number in 15 minutes.
 * - login, from all networks: refuses nobody, because an attacker could lock its user out. While many networks guess at
 *   one login, each of them has a single free try, so the number of guesses is proportional to that of networks.
 * - codes, from all networks: a fixed number in 15 minutes. A code has six digits, so a limit per network does not
 *   suffice. Its caller already knows the password.
 */
import type { Dependencies } from '#api/dependencies.ts';
import type { Queryable } from '#api/store/database.ts';
import { networkOf } from '#api/users/network.ts';
import {
  countFailures,
  forgetFailures,
  insertFailures,
  lockSubjects,
  removeFailures,
  selectPairFailures,
} from '#api/users/sign-in-failure-rows.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { backoffMs } from '#crds/process/backoff.ts';

type ThrottleDeps = Pick<Dependencies, 'database' | 'clock'>;

const MINUTE_MS = 60 * 1000;
const WINDOW_MS = 15 * MINUTE_MS;
/** Retention of a pair's wrong tries and maximum of its wait, in milliseconds. */
const MEMORY_MS = 24 * 60 * MINUTE_MS;
const FREE_TRIES = 5;
const FREE_TRIES_UNDER_ATTACK = 1;
/** Number of wrong tries at one login from all networks within the window from which it is under attack. */
const ATTACK_THRESHOLD = 50;
const MAX_PER_NETWORK = 100;
const MAX_CODES = 30;

export interface Count {
  readonly subject: string;
  readonly rule:
    | { readonly kind: 'pair'; readonly watch: string | null }
    | { readonly kind: 'most'; readonly most: number }
    | { readonly kind: 'watched' };
}

/** Counted try, which `forgetTry` removes when it was right. */
interface Counting {
  readonly ids: readonly number[];
  readonly pair: string | null;
}

/** Returns the counts of a sign-in by password. */
export function signInCounts({ email, address }: { email: string; address: string }): readonly Count[] {
  const [network, login] = [networkOf(address), `login:${email}`];
  return [
    { subject: `pair:${network} ${email}`, rule: { kind: 'pair', watch: login } },
    { subject: `network:${network}`, rule: { kind: 'most', most: MAX_PER_NETWORK } },
    { subject: login, rule: { kind: 'watched' } },
  ];
}

/** Returns the counts of the second step's codes. */
export function codeCounts({ userId, address }: { userId: string; address: string }): readonly Count[] {
  return [
    { subject: `code-pair:${networkOf(address)} ${userId}`, rule: { kind: 'pair', watch: null } },
    { subject: `code:${userId}`, rule: { kind: 'most', most: MAX_CODES } },
  ];
}

/** Returns the counts of a reauthentication by password. They belong to the session. */
export function reauthenticationCounts(session: Buffer): readonly Count[] {
  return [{ subject: `again:${session.toString('base64url')}`, rule: { kind: 'pair', watch: null } }];
}

/**
 * Counts the try before it is verified, so that parallel guesses are limited, too.
 * @throws MediaError rate_limited when one of the counts refuses it.
 */
export async function countTry({ database, clock }: ThrottleDeps, counts: readonly Count[]): Promise<Counting> {
  const at = clock.now();
  const subjects = counts.map(({ subject }) => subject);
  const locked = counts.filter(({ rule }) => rule.kind !== 'watched').map(({ subject }) => subject);
  await forgetFailures(database, new Date(at.getTime() - MEMORY_MS));
  const ids = await database.transaction(async (tx) => {
    await lockSubjects(tx, locked);
    const waits = [];
    for (const count of counts) waits.push(await waitOf(tx, count, at));
    const waitMs = Math.max(0, ...waits);
    if (waitMs > 0) throw tooMany(waitMs);
    return insertFailures(tx, subjects, at);
  });
  return { ids, pair: counts.find(({ rule }) => rule.kind === 'pair')?.subject ?? null };
}

/**
 * Removes the count of a right try. With `wholePair` it removes the wrong ones of the pair, too. Not for several logins
 * of one address: otherwise a person with one of the passwords could guess the others without a limit.
 */
export async function forgetTry(
  { database }: { readonly database: Queryable },
  { ids, pair }: Counting,
  { wholePair }: { readonly wholePair: boolean },
): Promise<void> {
  await removeFailures(database, ids, wholePair ? pair : null);
}

/** Returns the remaining wait of the subject, in milliseconds. */
async function waitOf(tx: Queryable, { subject, rule }: Count, at: Date): Promise<number> {
  const since = new Date(at.getTime() - WINDOW_MS);
  switch (rule.kind) {
    case 'watched':
      return 0;
    case 'most':
      return (await countFailures(tx, subject, since)) < rule.most ? 0 : WINDOW_MS;
    case 'pair': {
      const { count, last } = await selectPairFailures(tx, subject, new Date(at.getTime() - MEMORY_MS));
      const isAttacked = rule.watch !== null && (await countFailures(tx, rule.watch, since)) >= ATTACK_THRESHOLD;
      const free = isAttacked ? FREE_TRIES_UNDER_ATTACK : FREE_TRIES;
      return last === null || count < free ? 0 : last.getTime() + pairWaitMs(count - free) - at.getTime();
    }
  }
}

/** Returns the wait after a pair's last wrong try, in milliseconds. `beyond`: wrong tries above the free ones. */
export function pairWaitMs(beyond: number): number {
  return backoffMs({ firstMs: WINDOW_MS, maxMs: MEMORY_MS }, beyond);
}

function tooMany(waitMs: number): MediaError {
  const minutes = Math.ceil(waitMs / MINUTE_MS);
  const time = minutes < 120 ? `${minutes} minute${minutes === 1 ? '' : 's'}` : `${Math.ceil(minutes / 60)} hours`;
  return new MediaError('rate_limited', `Too many failed attempts from your network. Wait ${time}, then try again.`, {
    retryAfterSeconds: Math.ceil(waitMs / 1000),
  });
}
