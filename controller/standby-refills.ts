/** Times at which standbys are replaced after bindings, by kind. Pure: the clock is passed in. */

/** Time after a binding before the next standby of the kind is created, in milliseconds. */
const REFILL_MS = 1000;
/** Maximum time for which further bindings delay the creation, in milliseconds. */
const LAST_REFILL_MS = 5000;

interface Refill {
  readonly at: Date;
  /** Time of the first binding that the creation waits for. */
  readonly since: Date;
}

export class StandbyRefills {
  readonly #now: () => Date;
  readonly #byKind = new Map<string, Refill>();

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** Delays the next creation: a new pod would slow down the job that has just been bound. */
  delay(kind: string): void {
    const now = this.#now();
    const before = this.#byKind.get(kind);
    const since = before !== undefined && before.at > now ? before.since : now;
    const at = new Date(Math.min(now.getTime() + REFILL_MS, since.getTime() + LAST_REFILL_MS));
    this.#byKind.set(kind, { at, since });
  }

  /** Returns the time before which none of the kind is created. */
  at(kind: string): Date {
    return this.#byKind.get(kind)?.at ?? new Date(0);
  }
}
