import type { Time } from '#crds/kube/time.ts';
import { backoffMs } from '#crds/process/backoff.ts';

export interface Backoff {
  /** Returns the delay before the next attempt, in milliseconds. */
  next(): number;
  /** Records a success: the next failure counts as the first. */
  reset(): void;
}

const DELAYS = { firstMs: 800, maxMs: 30_000 };
/** Time without a failure after which the next one counts as the first, in milliseconds. */
const HEALTHY_MS = 120_000;

/** Creates an exponential backoff of 0.8 s to 30 s, with full jitter, so that replicas do not retry together. */
export function makeBackoff({ monotonic, random }: Pick<Time, 'monotonic' | 'random'>): Backoff {
  let failures = 0;
  let lastAt = -Infinity;
  return {
    next() {
      const now = monotonic();
      if (now - lastAt > HEALTHY_MS) failures = 0;
      const delay = random() * backoffMs(DELAYS, failures);
      failures += 1;
      lastAt = now + delay;
      return delay;
    },
    reset() {
      failures = 0;
    },
  };
}
