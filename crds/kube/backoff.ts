import type { Time } from '#crds/kube/time.ts';

export interface Backoff {
  /** Milliseconds to wait before the next try. */
  next(): number;
  /** Something went well: the next failure counts as the first. */
  reset(): void;
}

const FIRST_MS = 800;
const LAST_MS = 30_000;
/** After so long without a failure the next one counts as the first. */
const HEALTHY_MS = 120_000;

/** 0.8 s doubled up to 30 s, with full jitter, so that replicas do not come back in step. */
export function makeBackoff({ monotonic, random }: Pick<Time, 'monotonic' | 'random'>): Backoff {
  let failures = 0;
  let lastAt = -Infinity;
  return {
    next() {
      const now = monotonic();
      if (now - lastAt > HEALTHY_MS) failures = 0;
      const ceiling = Math.min(LAST_MS, FIRST_MS * 2 ** failures);
      failures += 1;
      const delay = random() * ceiling;
      lastAt = now + delay;
      return delay;
    },
    reset() {
      failures = 0;
    },
  };
}
