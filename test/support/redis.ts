import { Redis } from 'ioredis';
import { afterAll, inject } from 'vitest';

/**
 * Opens an empty Redis database for this file's tests, on the run's real server; emptied and
 * closed after them. `url` is for parts that connect on their own.
 */
export async function testRedis(): Promise<{ redis: Redis; url: string }> {
  const server = new Redis(new URL(inject('redisUrl')).pathname);
  const number = (await server.incr('test-databases')) % DATABASES || DATABASES;
  await server.quit();
  const url = `${inject('redisUrl')}?db=${number}`;
  const redis = new Redis({ path: new URL(url).pathname, db: number });
  await redis.flushdb();
  afterAll(async () => {
    await redis.flushdb();
    await redis.quit();
  });
  return { redis, url };
}

/** Database 0 keeps the count; the server has 64. */
const DATABASES = 63;
