import { describe, expect, it } from 'vitest';
import { KindPermits } from '#controller/kind-permits.ts';

const video = { account: 'a', kind: 'video' } as const;
const image = { account: 'a', kind: 'image' } as const;
const unknown = { account: 'a', kind: null } as const;
const make = (permits: number | null, byKind = {}): KindPermits =>
  new KindPermits({ nowMs: () => 0 }, { permits, byKind });

describe('permits by kind', () => {
  it('limit a kind and leave the other kinds alone', () => {
    const permits = make(3, { video: 1 });
    expect(permits.acquire('v1', video)).toBe(true);
    expect(permits.acquire('v2', video)).toBe(false);
    expect([permits.acquire('i1', image), permits.acquire('i2', image)]).toEqual([true, true]);
    expect(permits.acquire('i3', image)).toBe(false);
    expect(permits.release('v1')).toEqual(expect.arrayContaining(['v1', 'v2', 'i3']));
    expect(permits.acquire('v2', video)).toBe(true);
  });

  it('limit runs whose kind is not known before the run', () => {
    const permits = make(null, { unknown: 1 });
    expect(permits.acquire('u1', unknown)).toBe(true);
    expect(permits.acquire('u2', unknown)).toBe(false);
    expect(permits.acquire('i1', image)).toBe(true);
  });

  it('count runs that exist already, and forget those that are released', () => {
    const permits = make(null, { video: 1 });
    permits.hold('v1', video);
    permits.hold('v2', video);
    expect(permits.acquire('v3', video)).toBe(false);
    expect(permits.names()).toEqual(['v1', 'v2', 'v3']);
    for (const run of ['v1', 'v2']) permits.release(run);
    expect(permits.acquire('v3', video)).toBe(true);
    expect(permits.names()).toEqual(['v3']);
  });

  it('limit nothing without a limit', () => {
    const permits = make(null);
    for (let run = 0; run < 100; run += 1) expect(permits.acquire(`v${run}`, video)).toBe(true);
  });
});
