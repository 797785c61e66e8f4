import type { Time } from '#crds/kube/time.ts';

export interface RateLimit {
  /** Resolves when the next request may go out, in the order of the calls. */
  take(signal: AbortSignal): Promise<void>;
}

/** A token bucket on our own side, so that a busy moment of ours is no load peak of the API server's. */
export function makeRateLimit(
  time: Pick<Time, 'monotonic' | 'wait'>,
  { perSecond, burst }: { perSecond: number; burst: number },
): RateLimit {
  const gap = 1000 / perSecond;
  /** When the bucket would be full again if nothing was taken. */
  let fullAt = time.monotonic();
  return {
    async take(signal) {
      const now = time.monotonic();
      fullAt = Math.max(now, fullAt) + gap;
      const delay = fullAt - now - burst * gap;
      if (delay > 0) await time.wait(delay, signal);
    },
  };
}
