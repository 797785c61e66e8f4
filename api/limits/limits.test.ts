import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Redis } from 'ioredis';
import type { PlanName } from '#crds/catalogue/plans.ts';
import { testRedis } from '#test/support/redis.ts';
import { connectRedis } from './connect-redis.ts';
import { makeLimits, type Limits } from './limits.ts';
import { directRule, otherRule, type LimitedCaller } from './plan-rules.ts';

const { redis } = await testRedis();
let nowMs: number;
let counter = 0;
let warnings: string[];
let limits: Limits;

const deps = (connection: Redis) => ({
  redis: connection,
  clock: { now: () => new Date(nowMs) },
  log: { warn: (_fields: unknown, message: string) => void warnings.push(message) },
  newLease: () => `lease ${(counter += 1)}`,
});
const someCaller = (plan: PlanName, livemode = true): LimitedCaller => ({
  account: { id: `acc_${(counter += 1)}`, plan },
  livemode,
});

beforeEach(() => {
  nowMs = Date.parse('2026-11-21T12:00:00.000Z');
  warnings = [];
  limits = makeLimits(deps(redis));
});

describe('the rules of a plan', () => {
  it.each([
    ['none', true, 2, 4, 20, 40],
    ['payg', true, 5, 10, 50, 100],
    ['starter', true, 20, 40, 200, 400],
    ['enterprise', true, 500, 1000, 5000, 10_000],
    ['none', false, 2, 4, 20, 40],
    ['enterprise', false, 2, 4, 20, 40],
  ] as const)('are for %s with live %s: direct %i/s, burst %i; other %i/s, burst %i', (plan, livemode, ...expected) => {
    const [direct, other] = [directRule(someCaller(plan, livemode)), otherRule(someCaller(plan, livemode))];
    expect([direct.refillPerSecond, direct.capacity, other.refillPerSecond, other.capacity]).toEqual(expected);
  });
});

describe('direct requests', () => {
  it('are admitted with the state of the bucket in the headers', async () => {
    const admission = await limits.direct(someCaller('payg'));
    expect(admission.refusal).toBeNull();
    expect(admission.headers).toEqual({ 'RateLimit-Limit': '10', 'RateLimit-Remaining': '9', 'RateLimit-Reset': '1' });
    await admission.release();
  });

  it('above the concurrency limit are refused and take no token', async () => {
    const caller = someCaller('payg');
    const running = [];
    for (let request = 0; request < 5; request += 1) running.push(await limits.direct(caller));
    const refused = await limits.direct(caller);
    expect(refused.refusal).toMatchObject({ code: 'concurrency_limited', retryAfterSeconds: 1 });
    expect(refused.headers['RateLimit-Remaining']).toBe('5');
    await refused.release();
    expect((await limits.direct(caller)).refusal?.code).toBe('concurrency_limited');
    await running[0]?.release();
    const next = await limits.direct(caller);
    expect(next.refusal).toBeNull();
    expect(next.headers['RateLimit-Remaining']).toBe('4');
    for (const each of [...running, next]) await each.release();
  });

  it('above the rate are refused with a retry time and hold no slot', async () => {
    const caller = someCaller('enterprise', false);
    for (let request = 0; request < 4; request += 1) await (await limits.direct(caller)).release();
    for (let request = 0; request < 600; request += 1) {
      const refused = await limits.direct(caller);
      expect(refused.refusal).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 1 });
      expect(refused.headers).toEqual({ 'RateLimit-Limit': '4', 'RateLimit-Remaining': '0', 'RateLimit-Reset': '1' });
    }
    nowMs += 500;
    const admitted = await limits.direct(caller);
    expect(admitted.refusal).toBeNull();
    await admitted.release();
  });

  it('have one bucket per mode and share the slots of both modes', async () => {
    const live = someCaller('none');
    const test = { ...live, livemode: false };
    const [one, two] = [await limits.direct(live), await limits.direct(test)];
    expect([one.headers['RateLimit-Remaining'], two.headers['RateLimit-Remaining']]).toEqual(['3', '3']);
    expect((await limits.direct(test)).refusal?.code).toBe('concurrency_limited');
    await one.release();
    await two.release();
  });

  it('refused for another reason show the bucket and take no token', async () => {
    const caller = someCaller('payg');
    await (await limits.direct(caller)).release();
    expect(await limits.directHeaders(caller)).toMatchObject({ 'RateLimit-Remaining': '9' });
    expect(await limits.directHeaders(caller)).toMatchObject({ 'RateLimit-Remaining': '9' });
  });

  describe('that run long', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
    afterEach(() => void vi.useRealTimers());

    it('keep their slot until the release and are not renewed after it', async () => {
      const caller = someCaller('none');
      const [one, two] = [await limits.direct(caller), await limits.direct(caller)];
      for (let renewal = 0; renewal < 20; renewal += 1) {
        nowMs += 5000;
        vi.advanceTimersByTime(5000);
      }
      expect((await limits.direct(caller)).refusal?.code).toBe('concurrency_limited');
      await one.release();
      await two.release();
      expect(vi.getTimerCount()).toBe(0);
      expect((await limits.direct(caller)).refusal).toBeNull();
    });

    it('lose their slot when the lease expires after their process was killed', async () => {
      const caller = someCaller('none');
      await limits.direct(caller);
      await limits.direct(caller);
      vi.clearAllTimers();
      nowMs += 15_000;
      expect((await limits.direct(caller)).refusal).toBeNull();
    });
  });
});

describe('other requests', () => {
  // Promise, Limits and versions: The second bucket, without those headers
  it('are refused above the second bucket, which is separate from that of direct requests', async () => {
    const caller = someCaller('none', false);
    for (let request = 0; request < 40; request += 1) await limits.other(caller);
    await expect(limits.other(caller)).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 1 });
    expect((await limits.direct(caller)).refusal).toBeNull();
    nowMs += 50;
    await expect(limits.other(caller)).resolves.toBeUndefined();
  });
});

describe('limits while Redis is unavailable', () => {
  let disconnected: Redis;
  beforeEach(() => {
    disconnected = connectRedis('unix:///nonexistent/redis.sock');
    limits = makeLimits(deps(disconnected));
  });
  afterEach(() => disconnected.disconnect());

  it('are counted per process', async () => {
    const caller = someCaller('none');
    const running = [await limits.direct(caller), await limits.direct(caller)];
    expect(running.map((each) => each.refusal)).toEqual([null, null]);
    expect((await limits.direct(caller)).refusal?.code).toBe('concurrency_limited');
    for (const each of running) await each.release();
    for (let request = 0; request < 2; request += 1) await (await limits.direct(caller)).release();
    const refused = await limits.direct(caller);
    expect(refused.refusal?.code).toBe('rate_limited');
    expect(refused.headers['RateLimit-Remaining']).toBe('0');
  });

  it('are logged once a minute', async () => {
    const caller = someCaller('enterprise');
    for (let second = 0; second < 60; second += 1) {
      await limits.other(caller);
      nowMs += 1000;
    }
    expect(warnings).toEqual(['Redis is unavailable: limits are counted per process']);
    await limits.other(caller);
    expect(warnings).toHaveLength(2);
  });
});

describe('slots across an outage of Redis', () => {
  it('acquired before it still count, and those acquired during it are released', async () => {
    const connection = redis.duplicate({ enableOfflineQueue: false, maxRetriesPerRequest: 0 });
    await new Promise((resolve) => connection.once('ready', resolve));
    const own = makeLimits(deps(connection));
    const caller = someCaller('none');
    const before = await own.direct(caller);
    connection.disconnect();
    await new Promise((resolve) => connection.once('end', resolve));
    const meanwhile = await own.direct(caller);
    expect(meanwhile.refusal).toBeNull();
    expect((await own.direct(caller)).refusal?.code).toBe('concurrency_limited');
    await connection.connect();
    nowMs += 1000;
    await meanwhile.release();
    await before.release();
    const after = await own.direct(caller);
    expect(after.refusal).toBeNull();
    await after.release();
    connection.disconnect();
  });
});

describe('connectRedis', () => {
  it('accepts a unix socket with a database number', async () => {
    const { path, db } = redis.options;
    const connection = connectRedis(`unix://${String(path)}?db=${db}`);
    await new Promise((resolve) => connection.once('ready', resolve));
    expect(await connection.ping()).toBe('PONG');
    expect(connection.options.db).toBe(db);
    connection.disconnect();
  });
});
