import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startLoop } from '#crds/shared/loop.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const HOUR_MS = 3_600_000;

/** How many turns there were when so many milliseconds had passed, of which the first `failing` failed. */
async function turnsWithin(ms: number, { everyMs, failing }: { everyMs: number; failing: number }): Promise<number> {
  let turns = 0;
  const turn = async (): Promise<void> => {
    turns += 1;
    if (turns <= failing) throw new Error('away');
  };
  const loop = startLoop({ log: { error: () => undefined } }, { name: 'test', everyMs, turn });
  await vi.advanceTimersByTimeAsync(ms);
  await loop.stop();
  return turns;
}

it('takes a turn at its start and then at its times', async () => {
  expect(await turnsWithin(HOUR_MS - 1, { everyMs: HOUR_MS, failing: 0 })).toBe(1);
  expect(await turnsWithin(HOUR_MS, { everyMs: HOUR_MS, failing: 0 })).toBe(2);
});

it('does not wait an hour after a turn that failed', async () => {
  expect(await turnsWithin(HOUR_MS - 1, { everyMs: HOUR_MS, failing: 2 })).toBe(3);
  expect(await turnsWithin(1000, { everyMs: 100, failing: 2 })).toBe(11);
});
