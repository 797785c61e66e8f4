import { describe, expect, it } from 'vitest';
import { StandbyRefills } from '#controller/standby-refills.ts';

describe('StandbyRefills', () => {
  it('delays a replacement by each binding, by five seconds at most', () => {
    let now = 0;
    const refills = new StandbyRefills(() => new Date(now));
    expect(refills.at('image').getTime()).toBe(0);
    for (now = 0; now <= 8000; now += 500) refills.delay('image');
    expect(refills.at('image').getTime()).toBe(9000);
    expect(refills.at('pdf').getTime()).toBe(0);
    now = 1000;
    const fresh = new StandbyRefills(() => new Date(now));
    for (; now < 5500; now += 500) fresh.delay('image');
    expect(fresh.at('image').getTime()).toBe(6000);
  });
});
