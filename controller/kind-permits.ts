/**
 * Permits of runs in a cluster: a number for all, and one for each kind that has a limit of its own. A run has the permit
 * of its kind first, so that a kind at its limit keeps no permit from the other kinds. Pure: the clock is passed in.
 */
import type { Kind } from '#crds/catalogue/formats.ts';
import { RunPermits } from '#controller/run-permits.ts';

interface KindPermitsOptions {
  /** Maximum number of runs; null: unlimited. */
  readonly permits: number | null;
  /** Maximum number of runs by kind; kinds without one have none. */
  readonly byKind: Readonly<Partial<Record<Kind | 'unknown', number>>>;
}

export interface PermitOwner {
  readonly account: string;
  /** null: unknown before the run. */
  readonly kind: Kind | null;
}

export class KindPermits {
  readonly #all: RunPermits | null;
  readonly #byKind: ReadonlyMap<string, RunPermits>;

  /** `nowMs` is a monotonic clock. */
  constructor(deps: { nowMs: () => number }, { permits, byKind }: KindPermitsOptions) {
    const pool = (size: number): RunPermits => new RunPermits(deps, { permits: size, extra: 0 });
    this.#all = permits === null ? null : pool(permits);
    this.#byKind = new Map(Object.entries(byKind).map(([kind, size]) => [kind, pool(size)]));
  }

  /** Acquires the permits of the run; idempotent. Returns false when the run has to wait. */
  acquire(run: string, { account, kind }: PermitOwner): boolean {
    return this.#poolsOf(kind).every((pool) => pool.acquire(run, account));
  }

  /** Records the permits of a run that exists already, also above the limits; idempotent. */
  hold(run: string, { account, kind }: PermitOwner): void {
    for (const pool of this.#poolsOf(kind)) pool.hold(run, account);
  }

  /** Releases the permits of the run, and its positions. Returns the runs that changed or may acquire now. */
  release(run: string): readonly string[] {
    return [...new Set(this.#pools().flatMap((pool) => pool.release(run)))];
  }

  /** Returns the runs that hold a permit and those that wait. */
  names(): readonly string[] {
    return [...new Set(this.#pools().flatMap((pool) => pool.names()))];
  }

  #poolsOf(kind: Kind | null): RunPermits[] {
    return [this.#byKind.get(kind ?? 'unknown'), this.#all].filter((pool) => pool !== undefined && pool !== null);
  }

  #pools(): RunPermits[] {
    return [...this.#byKind.values(), ...(this.#all === null ? [] : [this.#all])];
  }
}
