import type { Time } from '#crds/kube/time.ts';

export interface RateLimit {
  /** Resolves when the next request may be sent, in the order of the calls. */
  take(signal: AbortSignal): Promise<void>;
}

/** Creates a client-side token bucket, so that load peaks of this process are no load peaks of the API server. */
export function makeRateLimit(
  time: Pick<Time, 'monotonic' | 'wait'>,
  { perSecond, burst }: { perSecond: number; burst: number },
): RateLimit {
  const gap = 1000 / perSecond;
  /** Time at which the bucket is full again without further requests. */
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
