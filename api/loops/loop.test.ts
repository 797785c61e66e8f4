import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startLoop } from '#api/loops/loop.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const HOUR_MS = 3_600_000;

/** Returns the number of iterations in `ms` milliseconds. The first `failing` iterations throw. */
async function countWithin(ms: number, { everyMs, failing }: { everyMs: number; failing: number }): Promise<number> {
  let iterations = 0;
  const iterate = async (): Promise<void> => {
    iterations += 1;
    if (iterations <= failing) throw new Error('unavailable');
  };
  const loop = startLoop({ log: { error: () => undefined } }, { name: 'test', everyMs, iterate });
  await vi.advanceTimersByTimeAsync(ms);
  await loop.stop();
  return iterations;
}

it('a loop runs an iteration at its start and then at its interval', async () => {
  expect(await countWithin(HOUR_MS - 1, { everyMs: HOUR_MS, failing: 0 })).toBe(1);
  expect(await countWithin(HOUR_MS, { everyMs: HOUR_MS, failing: 0 })).toBe(2);
});

it('a loop retries a failed iteration before its interval of an hour', async () => {
  expect(await countWithin(HOUR_MS - 1, { everyMs: HOUR_MS, failing: 2 })).toBe(3);
  expect(await countWithin(1000, { everyMs: 100, failing: 2 })).toBe(11);
});
