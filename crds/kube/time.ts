import { setTimeout as timer } from 'node:timers/promises';

/** Time as retries and leases need it; passed in, so that a test can move it. */
export interface Time {
  /** Milliseconds of a clock that is never set. */
  monotonic(): number;
  /** What a person's clock says. */
  now(): Date;
  /** Resolves after the time, or at once when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** 0 to below 1. */
  random(): number;
}

export const systemTime: Time = {
  monotonic: () => performance.now(),
  now: () => new Date(),
  wait: (ms, signal) => timer(ms, undefined, { signal }).catch(() => undefined),
  random: Math.random,
};
