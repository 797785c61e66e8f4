/**
 * Attempts that wait for a standby that works for their account, in order of arrival: it is free sooner than a pod of
 * their own has started. Pure: the clock is passed in.
 */

/** Maximum time for which an attempt waits, in milliseconds. Then it starts in a pod of its own. */
export const MAX_WAIT_MS = 10_000;

interface Waiting {
  readonly group: string;
  readonly sinceMs: number;
}

export class StandbyQueue {
  readonly #nowMs: () => number;
  readonly #waiting = new Map<string, Waiting>();

  /** `nowMs` is a monotonic clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /**
   * Returns whether the run waits. `group`: account and kind; `capacity`: number of runs that the standbys of the group
   * may still take. A run that does not wait is not in the queue.
   */
  wait(run: string, { group, capacity }: { group: string; capacity: number }): boolean {
    this.#forgetOld();
    const { sinceMs } = this.#waiting.get(run) ?? { sinceMs: this.#nowMs() };
    this.#waiting.set(run, { group, sinceMs });
    const position = [...this.#waiting].filter((one) => one[1].group === group).findIndex(([name]) => name === run);
    if (position < capacity && this.#nowMs() - sinceMs < MAX_WAIT_MS) return true;
    this.#waiting.delete(run);
    return false;
  }

  /** Removes a run from the queue. */
  remove(run: string): void {
    this.#waiting.delete(run);
  }

  /** Forgets runs that nobody has asked for again, since their job was canceled. */
  #forgetOld(): void {
    const oldest = this.#nowMs() - 2 * MAX_WAIT_MS;
    for (const [run, { sinceMs }] of this.#waiting) if (sinceMs < oldest) this.#waiting.delete(run);
  }
}
