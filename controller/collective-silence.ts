/**
 * Suspension of the rule that a silent attempt is lost. Attempts that fall silent together are probably well: the fault
 * is DNS, a network policy or the controller's own port. While the rule is suspended, a node that reports an attempt as
 * running is believed for `trustedSilenceSeconds`.
 *
 *   normal ──→ suspended: more than half of the running attempts are silent, and at least `MIN_SILENT`
 *      ↑           │
 *      └───────────┘ half of them or fewer: the others have the whole timeout to be heard again
 */
import type { Timing } from '#controller/timing.ts';

/** Minimum number of silent attempts that suspends the rule. */
const MIN_SILENT = 3;

export interface SilenceRule {
  readonly isSuspended: boolean;
  /** End of the last suspension; null: there was none. */
  readonly resumedAt: Date | null;
}

/** Rule for one machine and for tests: never suspended. */
export const NEVER_SUSPENDED: SilenceRule = { isSuspended: false, resumedAt: null };

/** Numbers of running attempts on reporting nodes. */
interface SilenceCount {
  readonly running: number;
  readonly silent: number;
}

/**
 * Counts the attempts, and those that are silent for half of the timeout: heartbeats of all are due by then.
 * `silentSince`: time since which each running attempt on a reporting node is silent.
 */
export function countSilent(
  { heartbeatTimeoutSeconds }: Pick<Timing, 'heartbeatTimeoutSeconds'>,
  { now, silentSince }: { now: Date; silentSince: readonly Date[] },
): SilenceCount {
  const limit = now.getTime() - (heartbeatTimeoutSeconds / 2) * 1000;
  return { running: silentSince.length, silent: silentSince.filter((since) => since.getTime() <= limit).length };
}

/** Returns the rule after a count of all running attempts at a time. Pure. */
export function nextSilenceRule(before: SilenceRule, { running, silent }: SilenceCount, now: Date): SilenceRule {
  const isSuspended = silent >= MIN_SILENT && silent > running / 2;
  if (isSuspended === before.isSuspended) return before;
  return { isSuspended, resumedAt: isSuspended ? before.resumedAt : now };
}
