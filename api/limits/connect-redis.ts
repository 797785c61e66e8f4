import { Redis } from 'ioredis';

/** Timeout of a command, in milliseconds. After it, limits are counted per process. */
const COMMAND_MS = 500;
const RECONNECT_MS = 1000;

/**
 * Returns a connection for the limits. Commands fail immediately while Redis is unavailable. It reconnects forever, so
 * Redis may start later. `url`: `redis://…`, `rediss://…` or `unix:///path`, optionally with `?db=`.
 */
export function connectRedis(url: string): Redis {
  const options = {
    commandTimeout: COMMAND_MS,
    connectTimeout: COMMAND_MS,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    // One write for all requests of one iteration of the event loop.
    enableAutoPipelining: true,
    retryStrategy: () => RECONNECT_MS,
    // A primary that was demoted keeps its connections: the address leads to the new one.
    reconnectOnError: ({ message }: Error) => message.startsWith('READONLY'),
  };
  const parsed = new URL(url);
  const redis =
    parsed.protocol === 'unix:'
      ? new Redis({ ...options, path: parsed.pathname, db: Number(parsed.searchParams.get('db') ?? 0) })
      : new Redis(url, options);
  // Every command reports the failure to its caller. Without a listener, the event would end the process.
  return redis.on('error', () => undefined);
}
