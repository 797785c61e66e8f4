import { describe, expect, it } from 'vitest';
import { testRedis } from '#test/support/redis.ts';
import { LEASE_MS, localSlots, redisSlots } from './concurrency.ts';

let nowMs = Date.parse('2026-11-21T12:00:00.000Z');
const clock = { now: () => new Date(nowMs) };
const { redis } = await testRedis();
let names = 0;
const freshSlots = (): ((lease: string) => { name: string; lease: string }) => {
  names += 1;
  const name = `account ${names}`;
  return (lease) => ({ name, lease });
};

describe.each([
  ['in Redis', () => redisSlots({ redis, clock })],
  ['in this process', () => localSlots()],
])('slots %s', (_where, make) => {
  const slots = make();

  it('are acquired up to the limit and freed by a release', async () => {
    const slot = freshSlots();
    expect(await slots.acquire(slot('a'), 2)).toBe(true);
    expect(await slots.acquire(slot('b'), 2)).toBe(true);
    expect(await slots.acquire(slot('c'), 2)).toBe(false);
    await slots.release(slot('a'));
    await slots.release(slot('a'));
    expect(await slots.acquire(slot('c'), 2)).toBe(true);
    expect(await slots.acquire(slot('d'), 2)).toBe(false);
  });

  it('are counted per name', async () => {
    expect(await slots.acquire(freshSlots()('a'), 1)).toBe(true);
    expect(await slots.acquire(freshSlots()('a'), 1)).toBe(true);
  });

  it('never exceed the limit of concurrent requests', async () => {
    const slot = freshSlots();
    const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => slots.acquire(slot(`${index}`), 7)));
    expect(answers.filter(Boolean)).toHaveLength(7);
  });
});

describe('slots in Redis', () => {
  const slots = redisSlots({ redis, clock });

  it('are free again when their lease expires without a renewal', async () => {
    const slot = freshSlots();
    await slots.acquire(slot('killed'), 1);
    nowMs += LEASE_MS - 1;
    expect(await slots.acquire(slot('next'), 1)).toBe(false);
    nowMs += 1;
    expect(await slots.acquire(slot('next'), 1)).toBe(true);
  });

  it('stay acquired while they are renewed', async () => {
    const slot = freshSlots();
    await slots.acquire(slot('long'), 1);
    for (let renewal = 0; renewal < 24; renewal += 1) {
      nowMs += 5000;
      await slots.renew(slot('long'));
      expect(await slots.acquire(slot('next'), 1)).toBe(false);
    }
  });

  it('are counted again at the next renewal after Redis lost them', async () => {
    const slot = freshSlots();
    await slots.acquire(slot('long'), 1);
    await redis.flushdb();
    await slots.renew(slot('long'));
    expect(await slots.acquire(slot('next'), 1)).toBe(false);
  });

  it('leave no key in Redis after the release', async () => {
    const slot = freshSlots();
    const key = `mediajobs:slots:${slot('a').name}`;
    await slots.acquire(slot('a'), 1);
    expect(await redis.pttl(key)).toBeLessThanOrEqual(2 * LEASE_MS);
    await slots.release(slot('a'));
    expect(await redis.exists(key)).toBe(0);
  });
});
