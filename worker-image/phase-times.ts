import type { WorkPhase } from '#crds/contract/run-spec.ts';

/** Times of the phases of an attempt, each of which ends with the next one, in milliseconds after `startedAt`. */
export class PhaseTimes {
  readonly #now: () => number;
  readonly #startedAt: number;
  readonly #begun: { phase: WorkPhase['phase']; startMs: number }[] = [];

  /** `startedAt`: time of the first heartbeat, by the same clock as `now`, in milliseconds. */
  constructor(now: () => number, startedAt: number) {
    this.#now = now;
    this.#startedAt = startedAt;
  }

  begin(phase: WorkPhase['phase']): void {
    this.#begun.push({ phase, startMs: this.#elapsed() });
  }

  /** Returns the phases so far. The last one ends now. */
  list(): WorkPhase[] {
    const now = this.#elapsed();
    return this.#begun.map((entry, index) => ({ ...entry, endMs: this.#begun[index + 1]?.startMs ?? now }));
  }

  #elapsed(): number {
    return Math.max(0, Math.round(this.#now() - this.#startedAt));
  }
}
