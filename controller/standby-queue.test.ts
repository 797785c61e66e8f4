import { describe, expect, it } from 'vitest';
import { MAX_WAIT_MS, StandbyQueue } from '#controller/standby-queue.ts';

describe('StandbyQueue', () => {
  const make = () => {
    const clock = { ms: 0 };
    const queue = new StandbyQueue(() => clock.ms);
    return { clock, queue, wait: (run: string, capacity: number) => queue.wait(run, { group: 'a', capacity }) };
  };

  it('lets as many wait as there is capacity for, in order of arrival', () => {
    const { wait, queue } = make();
    expect([wait('one', 2), wait('two', 2), wait('three', 2)]).toEqual([true, true, false]);
    queue.remove('one');
    expect([wait('three', 2), wait('two', 1)]).toEqual([true, true]);
    expect(queue.wait('other', { group: 'b', capacity: 1 })).toBe(true);
  });

  it('lets none wait longer than its time, or without capacity', () => {
    const { wait, clock } = make();
    expect(wait('one', 1)).toBe(true);
    clock.ms = MAX_WAIT_MS;
    expect(wait('one', 1)).toBe(false);
    expect(wait('two', 0)).toBe(false);
  });

  it('forgets those that never ask again', () => {
    const { wait, clock } = make();
    expect(wait('canceled', 1)).toBe(true);
    clock.ms = 2 * MAX_WAIT_MS + 1;
    expect(wait('next', 1)).toBe(true);
  });
});
