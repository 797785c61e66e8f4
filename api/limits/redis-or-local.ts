import type { Clock } from '#crds/shared/clock.ts';

/** The part of a process's log that says that Redis is away. */
export interface WarnLog {
  warn(fields: { err: unknown }, message: string): void;
}

/** Runs the first function, or the second when Redis is away. */
export type RedisOrLocal = <Value>(shared: () => Promise<Value>, local: () => Promise<Value>) => Promise<Value>;

const LOG_EVERY_MS = 60_000;
/** After a failure Redis is left alone that long, so that a silent server does not slow every request. */
const REST_MS = 1000;

/** One for all limits of a process. Logs that Redis is away once a minute; a request never fails for it. */
export function makeRedisOrLocal({ clock, log }: { clock: Clock; log: WarnLog }): RedisOrLocal {
  let restUntilMs = -Infinity;
  let logAgainMs = -Infinity;
  return async (shared, local) => {
    if (clock.now().getTime() < restUntilMs) return local();
    try {
      return await shared();
    } catch (error) {
      const nowMs = clock.now().getTime();
      restUntilMs = nowMs + REST_MS;
      if (nowMs >= logAgainMs) {
        logAgainMs = nowMs + LOG_EVERY_MS;
        log.warn({ err: error }, 'Redis is away: limits are counted per process');
      }
      return local();
    }
  };
}
