import { Redis } from 'ioredis';

/** A command that takes longer than this fails; limits are then counted per process. */
const COMMAND_MS = 500;
const RECONNECT_MS = 1000;

/**
 * A connection for the limits. It fails at once while Redis is away and reconnects for ever, so it may
 * be made before Redis is up. `url`: `redis://…`, `rediss://…` or `unix:///path` with `?db=` if wanted.
 */
export function connectRedis(url: string): Redis {
  const options = {
    commandTimeout: COMMAND_MS,
    connectTimeout: COMMAND_MS,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    // One write for all requests of a turn of the event loop.
    enableAutoPipelining: true,
    retryStrategy: () => RECONNECT_MS,
  };
  const parsed = new URL(url);
  const redis =
    parsed.protocol === 'unix:'
      ? new Redis({ ...options, path: parsed.pathname, db: Number(parsed.searchParams.get('db') ?? 0) })
      : new Redis(url, options);
  // Every command reports the same failure to its caller; unheard, the event would end the process.
  return redis.on('error', () => undefined);
}
