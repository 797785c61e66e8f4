import type { Clock } from '#crds/process/clock.ts';

/** Log of outages of Redis. */
export interface WarnLog {
  warn(fields: { err: unknown }, message: string): void;
}

/** Function that runs the first function, or the second when Redis is unavailable. */
export type RedisOrLocal = <Value>(shared: () => Promise<Value>, local: () => Promise<Value>) => Promise<Value>;

const LOG_EVERY_MS = 60_000;
/** Time without commands after a failure, in milliseconds: an unresponsive server must not delay every request. */
const RETRY_AFTER_MS = 1000;

/** Returns the function for all limits of a process. It logs an outage once a minute; requests never fail for it. */
export function makeRedisOrLocal({ clock, log }: { clock: Clock; log: WarnLog }): RedisOrLocal {
  let retryAtMs = -Infinity;
  let nextLogMs = -Infinity;
  return async (shared, local) => {
    if (clock.now().getTime() < retryAtMs) return local();
    try {
      return await shared();
    } catch (error) {
      const nowMs = clock.now().getTime();
      retryAtMs = nowMs + RETRY_AFTER_MS;
      if (nowMs >= nextLogMs) {
        nextLogMs = nowMs + LOG_EVERY_MS;
        log.warn({ err: error }, 'Redis is unavailable: limits are counted per process');
      }
      return local();
    }
  };
}
