/**
 * Permits of a limited number of runs, shared fairly between accounts. Pure: the clock is passed in.
 *
 * A single account may hold all permits. When several wait, the account with the fewest permits is next; of equal ones,
 * that whose runs have recently used less time. When all permits are in use, an account that holds none gets an extra
 * one, unless its runs have recently used much time.
 */
import { makeFairShare, type FairShare } from '#crds/process/fair-share.ts';

export interface RunPermitsOptions {
  readonly permits: number;
  /** Number of additional permits for accounts that hold none. */
  readonly extra: number;
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

export class RunPermits {
  readonly #nowMs: () => number;
  readonly #options: RunPermitsOptions;
  readonly #share: FairShare;
  readonly #held = new Map<string, { readonly account: string; readonly sinceMs: number }>();
  /** Waiting runs in order of arrival. */
  readonly #waiting = new Map<string, Waiting>();
  #isClosed = false;

  /** `nowMs` is a monotonic clock. */
  constructor({ nowMs }: { nowMs: () => number }, options: RunPermitsOptions) {
    this.#nowMs = nowMs;
    this.#options = options;
    this.#share = makeFairShare({ nowMs });
  }

  /** Acquires a permit for the run; idempotent. Returns false when the run has to wait. */
  acquire(run: string, account: string): boolean {
    if (this.#held.has(run)) return !this.#isClosed;
    if (!this.#mayAcquire(account)) {
      this.#waiting.set(run, { account, offeredAtMs: null });
      return false;
    }
    this.hold(run, account);
    return true;
  }

  /** Records the permit of a run that exists already, also above the limit; idempotent. */
  hold(run: string, account: string): void {
    if (this.#held.has(run)) return;
    this.#waiting.delete(run);
    this.#held.set(run, { account, sinceMs: this.#nowMs() });
    this.#share.acquire(account);
  }

  /** Releases the run's permit, or its position in the queue. Returns the runs that changed or may acquire now. */
  release(run: string): readonly string[] {
    const wasWaiting = this.#waiting.delete(run);
    const permit = this.#held.get(run);
    if (permit === undefined) return wasWaiting ? this.#offerNext() : [];
    this.#held.delete(run);
    this.#share.release(permit.account, (this.#nowMs() - permit.sinceMs) / 1000);
    return [run, ...this.#offerNext()];
  }

  /** Returns the runs that hold a permit and those that wait. */
  names(): readonly string[] {
    return [...this.#held.keys(), ...this.#waiting.keys()];
  }

  /** Refuses all further permits. */
  close(): void {
    this.#isClosed = true;
  }

  #mayAcquire(account: string): boolean {
    const { permits, extra } = this.#options;
    if (this.#isClosed) return false;
    if (this.#held.size < permits) return this.#share.next([...this.#candidates(), account]) === account;
    return this.#held.size < permits + extra && this.#mayHaveExtra(account);
  }

  #mayHaveExtra(account: string): boolean {
    return this.#share.held(account) === 0 && this.#share.usedSeconds(account) <= EXTRA_MAX_USED_SECONDS;
  }

  /** Returns the waiting accounts without an expired offer, in order of arrival. */
  #candidates(): string[] {
    return [...this.#waiting.values()]
      .filter(({ offeredAtMs }) => offeredAtMs === null || this.#nowMs() - offeredAtMs < OFFER_MS)
      .map(({ account }) => account);
  }

  #offerNext(): string[] {
    const account = this.#share.next(this.#candidates());
    const next = [...this.#waiting].find((one) => one[1].account === account);
    if (account === null || next === undefined) return [];
    this.#waiting.set(next[0], { account, offeredAtMs: next[1].offeredAtMs ?? this.#nowMs() });
    return [next[0]];
  }
}
