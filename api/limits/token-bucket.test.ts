import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testRedis } from '#test/support/redis.ts';
import { localTokenBuckets, redisTokenBuckets, type BucketRule, type TokenBuckets } from './token-bucket.ts';

const START = Date.parse('2026-11-21T12:00:00.000Z');
const RULE: BucketRule = { capacity: 10, refillPerSecond: 5 };

let nowMs = START;
const clock = { now: () => new Date(nowMs) };
const { redis } = await testRedis();
let names = 0;
const freshName = (): string => {
  nowMs = START;
  names += 1;
  return `bucket ${names}`;
};

async function empty(buckets: TokenBuckets, name: string, rule = RULE): Promise<void> {
  for (let taken = 0; taken < rule.capacity; taken += 1) await buckets.take(name, rule);
}

describe.each([
  ['in Redis', () => redisTokenBuckets({ redis, clock })],
  ['in this process', () => localTokenBuckets({ clock })],
])('token buckets %s', (_where, make) => {
  const buckets = make();

  it('admit as many requests in a burst as their capacity, and then none', async () => {
    const name = freshName();
    const states = [];
    for (let taken = 0; taken < 11; taken += 1) states.push(await buckets.take(name, RULE));
    expect(states.map((state) => state.admitted)).toEqual([...Array<boolean>(10).fill(true), false]);
    expect(states.map((state) => state.remaining)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0]);
  });

  it('return the seconds until full, or after a refusal until the next token', async () => {
    const name = freshName();
    expect((await buckets.take(name, RULE)).resetSeconds).toBe(1);
    await empty(buckets, name);
    expect((await buckets.peek(name, RULE)).resetSeconds).toBe(1);
    const slow = { capacity: 4, refillPerSecond: 2 };
    const other = freshName();
    for (let taken = 0; taken < 3; taken += 1) await buckets.take(other, slow);
    expect(await buckets.take(other, slow)).toEqual({ admitted: true, remaining: 0, resetSeconds: 2 });
    expect(await buckets.take(other, slow)).toEqual({ admitted: false, remaining: 0, resetSeconds: 1 });
  });

  // Promise, Limits and versions: Token bucket with exact headers, separate for live and test, on every direct response
  it('refill one token after exactly 1/refillPerSecond seconds', async () => {
    const name = freshName();
    await empty(buckets, name);
    nowMs += 199;
    expect((await buckets.take(name, RULE)).admitted).toBe(false);
    nowMs += 1;
    expect(await buckets.take(name, RULE)).toMatchObject({ admitted: true, remaining: 0 });
    expect((await buckets.take(name, RULE)).admitted).toBe(false);
  });

  it('add no tokens when the clock is set back and forth', async () => {
    const name = freshName();
    await empty(buckets, name);
    for (const at of [-5000, 0, -60_000, 0, -1, 0]) {
      nowMs = START + at;
      expect((await buckets.take(name, RULE)).admitted).toBe(false);
    }
    nowMs = START - 2000;
    expect((await buckets.take(name, RULE)).resetSeconds).toBe(3);
  });

  it('keep their tokens at a peek', async () => {
    const name = freshName();
    expect(await buckets.peek(name, RULE)).toEqual({ admitted: true, remaining: 10, resetSeconds: 0 });
    await buckets.take(name, RULE);
    await buckets.peek(name, RULE);
    expect(await buckets.peek(name, RULE)).toMatchObject({ remaining: 9 });
  });

  it('apply a smaller capacity after a change of plan', async () => {
    const name = freshName();
    await buckets.take(name, { capacity: 100, refillPerSecond: 50 });
    expect(await buckets.take(name, RULE)).toMatchObject({ admitted: true, remaining: 9 });
  });

  it('admit no more requests than capacity and refill allow, for any requests and clock changes', async () => {
    const rule = fc.record({
      capacity: fc.integer({ min: 1, max: 20 }),
      refillPerSecond: fc.integer({ min: 1, max: 20 }),
    });
    const steps = fc.array(fc.integer({ min: -500, max: 700 }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(rule, steps, async (given, moves) => {
        const name = freshName();
        const first = START + (moves[0] ?? 0);
        let latest = first;
        let admitted = 0;
        for (const move of moves) {
          nowMs += move;
          latest = Math.max(latest, nowMs);
          const state = await buckets.take(name, given);
          if (state.admitted) admitted += 1;
          expect(state.remaining).toBeGreaterThanOrEqual(0);
          expect(state.remaining).toBeLessThan(given.capacity);
          expect(admitted * 1000).toBeLessThanOrEqual(given.capacity * 1000 + (latest - first) * given.refillPerSecond);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('buckets in Redis and in this process', () => {
  it('return equal states', async () => {
    const shared = redisTokenBuckets({ redis, clock });
    const local = localTokenBuckets({ clock });
    const move = fc.record({ ms: fc.integer({ min: -200, max: 400 }), isPeek: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(move, { maxLength: 30 }), async (moves) => {
        const name = freshName();
        for (const { ms, isPeek } of moves) {
          nowMs += ms;
          const verb = isPeek ? 'peek' : 'take';
          expect(await shared[verb](name, RULE)).toEqual(await local[verb](name, RULE));
        }
      }),
      { numRuns: 40 },
    );
  });

  it('in Redis, are shared by all clients and survive a lost script cache', async () => {
    const name = freshName();
    const [one, two] = [redisTokenBuckets({ redis, clock }), redisTokenBuckets({ redis, clock })];
    const states = await Promise.all(
      Array.from({ length: 30 }, (_, index) => (index % 2 ? one : two).take(name, RULE)),
    );
    expect(states.filter((state) => state.admitted)).toHaveLength(10);
    await redis.script('FLUSH');
    expect((await one.take(name, RULE)).admitted).toBe(false);
  });

  it('in Redis, expire soon after they are full', async () => {
    const name = freshName();
    await redisTokenBuckets({ redis, clock }).take(name, RULE);
    const ttl = await redis.pttl(`mediajobs:bucket:${name}`);
    expect(ttl).toBeGreaterThan(0);
    expect(ttl).toBeLessThanOrEqual(5200);
  });

  it('in this process, are deleted when they are full and more than 10,000', async () => {
    const local = localTokenBuckets({ clock });
    nowMs = START;
    for (let index = 0; index < 10_000; index += 1) await local.take(`${index}`, RULE);
    nowMs += 60_000;
    expect((await local.take('one more', RULE)).remaining).toBe(9);
    expect(await local.peek('0', RULE)).toEqual({ admitted: true, remaining: 10, resetSeconds: 0 });
  });
});
