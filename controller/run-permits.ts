/**
 * Permits of runs on one machine, shared fairly between accounts. Pure: the clock is passed in.
 *
 * A single account may hold all permits. When several wait, the account with the fewest permits is next; of equal ones,
 * that whose runs have recently used less time. When all permits are in use, an account that holds none gets an extra
 * one, unless its runs have recently used much time.
 */
import { makeFairShare } from '#crds/process/fair-share.ts';

export interface RunPermitsOptions {
  readonly permits: number;
  /** Number of additional permits for accounts that hold none. */
  readonly extra: number;
}

export interface RunPermits {
  /** Acquires a permit for the run; idempotent. Returns false when the run has to wait. */
  acquire(run: string, account: string): boolean;
  /** Releases the run's permit, or its position in the queue. Returns the runs that changed or may acquire now. */
  release(run: string): readonly string[];
  /** Returns the runs that hold a permit and those that wait. */
  names(): readonly string[];
  /** Refuses all further permits. */
  close(): void;
}

/** Time for which a free permit is reserved for the run to which it was offered, in milliseconds. */
export const OFFER_MS = 5000;
/** Recently used time above which an account gets no extra permit, in seconds: its next run is probably long too. */
const EXTRA_MAX_USED_SECONDS = 60;

interface Waiting {
  readonly account: string;
  /** Time at which a permit was offered to it; null: never. */
  readonly offeredAtMs: number | null;
}

/** Returns the permits of a machine. `nowMs` is a monotonic clock. */
export function makeRunPermits(deps: { nowMs: () => number }, { permits, extra }: RunPermitsOptions): RunPermits {
  const share = makeFairShare(deps);
  const held = new Map<string, { readonly account: string; readonly sinceMs: number }>();
  /** Waiting runs in order of arrival. */
  const waiting = new Map<string, Waiting>();
  let isClosed = false;

  /** Returns the waiting accounts without an expired offer, in order of arrival. */
  const candidates = (): string[] =>
    [...waiting.values()]
      .filter(({ offeredAtMs }) => offeredAtMs === null || deps.nowMs() - offeredAtMs < OFFER_MS)
      .map(({ account }) => account);
  const isNext = (account: string): boolean => share.next([...candidates(), account]) === account;
  const mayHaveExtra = (account: string): boolean =>
    share.held(account) === 0 && share.usedSeconds(account) <= EXTRA_MAX_USED_SECONDS;
  const mayAcquire = (account: string): boolean => {
    if (isClosed) return false;
    if (held.size < permits) return isNext(account);
    return held.size < permits + extra && mayHaveExtra(account);
  };
  const offerNext = (): string[] => {
    const account = share.next(candidates());
    const next = [...waiting].find((one) => one[1].account === account);
    if (account === null || next === undefined) return [];
    waiting.set(next[0], { account, offeredAtMs: next[1].offeredAtMs ?? deps.nowMs() });
    return [next[0]];
  };
  return {
    acquire: (run, account) => {
      if (held.has(run)) return !isClosed;
      if (!mayAcquire(account)) {
        waiting.set(run, { account, offeredAtMs: null });
        return false;
      }
      waiting.delete(run);
      held.set(run, { account, sinceMs: deps.nowMs() });
      share.acquire(account);
      return true;
    },
    release: (run) => {
      const wasWaiting = waiting.delete(run);
      const permit = held.get(run);
      if (permit === undefined) return wasWaiting ? offerNext() : [];
      held.delete(run);
      share.release(permit.account, (deps.nowMs() - permit.sinceMs) / 1000);
      return [run, ...offerNext()];
    },
    names: () => [...held.keys(), ...waiting.keys()],
    close: () => {
      isClosed = true;
    },
  };
}
