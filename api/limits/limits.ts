/**
 * What a keyed request must pass before its work begins. Counted in Redis for all processes together,
 * per process while Redis is away. Spec: Limits / Rate limit, Concurrency, Test keys.
 */
import type { Redis } from 'ioredis';
import { MediaError } from '#crds/media-error.ts';
import type { Clock } from '#crds/shared/clock.ts';
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
   * A direct request begins: concurrency first, then a token. With a refusal nothing is held.
   * `release` when the request has ended, however it ended.
   */
  direct(caller: LimitedCaller): Promise<Admission>;
  /** `RateLimit-…` for a direct request that is refused before its turn; takes nothing. */
  directHeaders(caller: LimitedCaller): Promise<RateHeaders>;
  /** @throws MediaError rate_limited */
  other(caller: LimitedCaller): Promise<void>;
}

export interface Admission {
  /** Refused or not. */
  readonly headers: RateHeaders;
  /** concurrency_limited or rate_limited. */
  readonly refusal: MediaError | null;
  readonly release: () => Promise<void>;
}

export type RateHeaders = Readonly<Record<'RateLimit-Limit' | 'RateLimit-Remaining' | 'RateLimit-Reset', string>>;

interface LimitsDeps {
  readonly redis: Redis;
  readonly clock: Clock;
  readonly log: WarnLog;
  /** A word that no other lease has. */
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

/** This process counts its own slots at all times, so that the count is right at the moment Redis goes away. */
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
  const message = `More than ${refillPerSecond} requests a second (${capacity} at once) were sent. Try again in ${resetSeconds} s.`;
  return new MediaError('rate_limited', message, { retryAfterSeconds: Math.max(1, resetSeconds) });
}
