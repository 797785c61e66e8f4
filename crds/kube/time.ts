import { setTimeout as timer } from 'node:timers/promises';

/** Clocks, timers and randomness of retries and leases; tests pass ones that they control. */
export interface Time {
  /** Returns the time of a monotonic clock, in milliseconds. */
  monotonic(): number;
  /** Returns the wall-clock time. */
  now(): Date;
  /** Resolves after the time, or at once when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** Returns a number from 0 to below 1. */
  random(): number;
}

export const systemTime: Time = {
  monotonic: () => performance.now(),
  now: () => new Date(),
  wait: (ms, signal) => timer(ms, undefined, { signal }).catch(() => undefined),
  random: Math.random,
};
