import { expect, it } from 'vitest';
import { makeRateLimit } from '#crds/kube/rate-limit.ts';

it('a rate limit admits a burst, then requests at its rate, and refills while nothing is requested', async () => {
  let now = 0;
  const waits: number[] = [];
  const time = { monotonic: () => now, wait: async (ms: number) => void waits.push(Math.round(ms)) };
  const limit = makeRateLimit(time, { perSecond: 10, burst: 2 });
  const { signal } = new AbortController();
  for (let request = 0; request < 4; request += 1) await limit.take(signal);
  expect(waits).toEqual([100, 200]);
  now = 10_000;
  for (let request = 0; request < 3; request += 1) await limit.take(signal);
  expect(waits).toEqual([100, 200, 100]);
});
