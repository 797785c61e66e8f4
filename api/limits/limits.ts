/**
 * Rate and concurrency limits of requests with a key, counted in Redis for all processes together, and per process
 * while Redis is unavailable. See docs/reference/limits-and-prices.md#rate-limits.
 */
import type { Redis } from 'ioredis';
import { MediaError } from '#crds/contract/media-error.ts';
import type { Clock } from '#crds/process/clock.ts';
import { localSlots, redisSlots, RENEW_EVERY_MS, type Slot, type Slots } from './concurrency.ts';
import { concurrentDirect, directRule, otherRule, type LimitedCaller } from './plan-rules.ts';
import { makeRedisOrLocal, type RedisOrLocal, type WarnLog } from './redis-or-local.ts';
import {
  localTokenBuckets,
  redisTokenBuckets,
  type BucketRule,
  type BucketState,
  type TokenBuckets,
} from './token-bucket.ts';

export interface Limits {
  /**
   * Admits a direct request: acquires a slot, then takes a token. A refused request holds nothing.
   * `release` must be called when the request has ended.
   */
  direct(caller: LimitedCaller): Promise<Admission>;
  /** Returns the `RateLimit-…` headers of a direct request that is refused for another reason. Takes no token. */
  directHeaders(caller: LimitedCaller): Promise<RateHeaders>;
  /** Admits any other request. @throws MediaError rate_limited */
  other(caller: LimitedCaller): Promise<void>;
}

export interface Admission {
  /** Headers of the response, refused or not. */
  readonly headers: RateHeaders;
  /** Refusal concurrency_limited or rate_limited; null when admitted. */
  readonly refusal: MediaError | null;
  readonly release: () => Promise<void>;
}

export type RateHeaders = Readonly<Record<'RateLimit-Limit' | 'RateLimit-Remaining' | 'RateLimit-Reset', string>>;

interface LimitsDeps {
  readonly redis: Redis;
  readonly clock: Clock;
  readonly log: WarnLog;
  /** Returns a unique identifier of a lease. */
  readonly newLease: () => string;
}

export function makeLimits(deps: LimitsDeps): Limits {
  const either = makeRedisOrLocal(deps);
  const buckets = eitherBuckets(either, redisTokenBuckets(deps), localTokenBuckets(deps));
  const slots = eitherSlots(either, redisSlots(deps), localSlots());
  const directHeaders = async (caller: LimitedCaller): Promise<RateHeaders> => {
    const rule = directRule(caller);
    return headersOf(rule, await buckets.peek(bucketName('direct', caller), rule));
  };
  return {
    directHeaders,
    direct: async (caller) => {
      const slot = { name: `direct:${caller.account.id}`, lease: deps.newLease() };
      const limit = concurrentDirect(caller);
      if (!(await slots.acquire(slot, limit))) {
        return { headers: await directHeaders(caller), refusal: tooMany(limit), release: nothing };
      }
      const rule = directRule(caller);
      const state = await buckets.take(bucketName('direct', caller), rule);
      const headers = headersOf(rule, state);
      if (state.admitted) return { headers, refusal: null, release: hold(slots, slot) };
      await slots.release(slot);
      return { headers, refusal: tooFast(rule, state), release: nothing };
    },
    other: async (caller) => {
      const rule = otherRule(caller);
      const state = await buckets.take(bucketName('other', caller), rule);
      if (!state.admitted) throw tooFast(rule, state);
    },
  };
}

function eitherBuckets(either: RedisOrLocal, shared: TokenBuckets, local: TokenBuckets): TokenBuckets {
  return {
    take: (name, rule) =>
      either(
        () => shared.take(name, rule),
        () => local.take(name, rule),
      ),
    peek: (name, rule) =>
      either(
        () => shared.peek(name, rule),
        () => local.peek(name, rule),
      ),
  };
}

/** Returns slots that are always counted locally too, so that the count is right when Redis becomes unavailable. */
function eitherSlots(either: RedisOrLocal, shared: Slots, local: Slots): Slots {
  const nowhere = async (): Promise<void> => undefined;
  return {
    acquire: async (slot, limit) => {
      const acquired = await either(
        () => shared.acquire(slot, limit),
        () => local.acquire(slot, limit),
      );
      if (acquired) await local.renew(slot);
      return acquired;
    },
    renew: (slot) => either(() => shared.renew(slot), nowhere),
    release: async (slot) => {
      await local.release(slot);
      await either(() => shared.release(slot), nowhere);
    },
  };
}

/** Renews the slot until it is released. */
function hold(slots: Slots, slot: Slot): () => Promise<void> {
  const timer = setInterval(() => void slots.renew(slot), RENEW_EVERY_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    return slots.release(slot);
  };
}

async function nothing(): Promise<void> {}

function bucketName(bucket: 'direct' | 'other', { account, livemode }: LimitedCaller): string {
  return `${bucket}:${account.id}:${livemode ? 'live' : 'test'}`;
}

function headersOf(rule: BucketRule, state: BucketState): RateHeaders {
  return {
    'RateLimit-Limit': String(rule.capacity),
    'RateLimit-Remaining': String(state.remaining),
    'RateLimit-Reset': String(state.resetSeconds),
  };
}

function tooMany(limit: number): MediaError {
  const message = `${limit} direct requests of this account are in progress, which is its limit. Wait for one to end, or use a job.`;
  return new MediaError('concurrency_limited', message);
}

function tooFast({ capacity, refillPerSecond }: BucketRule, { resetSeconds }: BucketState): MediaError {
  const message = `The rate limit is ${refillPerSecond} requests per second (burst ${capacity}). Try again in ${resetSeconds} s.`;
  return new MediaError('rate_limited', message, { retryAfterSeconds: Math.max(1, resetSeconds) });
}
