import { beforeEach, describe, expect, it } from 'vitest';
import { makeBackoff, type Backoff } from '#crds/kube/backoff.ts';

describe('makeBackoff', () => {
  let now: number;
  let random: number;
  let backoff: Backoff;

  beforeEach(() => {
    now = 0;
    random = 1;
    backoff = makeBackoff({ monotonic: () => now, random: () => random });
  });
  const delays = (count: number): number[] => Array.from({ length: count }, () => backoff.next());

  it('doubles the maximum delay from 0.8 to 30 seconds', () => {
    expect(delays(8)).toEqual([800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
  });

  it('returns a random part of the maximum delay', () => {
    random = 0.25;
    expect(delays(2)).toEqual([200, 400]);
  });

  it('begins again after a success', () => {
    delays(3);
    backoff.reset();
    expect(delays(2)).toEqual([800, 1600]);
  });

  it('begins again after two minutes without a failure', () => {
    delays(1);
    now = 800 + 120_000;
    expect(delays(1)).toEqual([1600]);
    now = now + 1600 + 120_001;
    expect(delays(1)).toEqual([800]);
  });
});
