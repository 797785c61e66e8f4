import { describe, expect, it } from 'vitest';
import { HALF_LIFE_MS, makeFairShare } from '#crds/process/fair-share.ts';

describe('a fair share', () => {
  it('selects the tenant with the fewest permits, and the first of several', () => {
    const share = makeFairShare({ nowMs: () => 0 });
    share.acquire('a');
    expect(share.next(['a', 'b', 'c'])).toBe('b');
    expect(share.next(['a'])).toBe('a');
    expect(share.next([])).toBeNull();
  });

  it('halves the recorded usage of a tenant every minute', () => {
    let now = 0;
    const share = makeFairShare({ nowMs: () => now });
    share.acquire('a');
    share.release('a', 10);
    now = HALF_LIFE_MS;
    expect(share.usedSeconds('a')).toBe(5);
    share.acquire('a');
    share.release('a', 10);
    expect(share.usedSeconds('a')).toBe(15);
  });

  it('remembers the last thousand tenants and all that hold a permit', () => {
    const share = makeFairShare({ nowMs: () => 0 });
    share.acquire('holder');
    for (let n = 0; n < 5000; n += 1) {
      share.acquire(`tenant ${n}`);
      share.release(`tenant ${n}`, 1);
    }
    expect(share.held('holder')).toBe(1);
    expect(share.usedSeconds('tenant 0')).toBe(0);
    expect(share.usedSeconds('tenant 4999')).toBe(1);
  });
});
