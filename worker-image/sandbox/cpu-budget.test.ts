import { describe, expect, it } from 'vitest';
import { cpuBudgetSeconds, firstCpuSeconds } from '#worker-image/sandbox/cpu-budget.ts';

describe('cpuBudgetSeconds', () => {
  const tiny = { kind: 'pdf', size: 2500 } as const;

  it('grows by less than 20 seconds for all pages that a small PDF declares', () => {
    const one = cpuBudgetSeconds(tiny, { pages: 1 });
    expect(cpuBudgetSeconds(tiny, { pages: 2000 })).toBeLessThan(one + 20);
  });

  it.each([
    ['size', { kind: 'pdf', size: 5e6 }, { pages: 1 }],
    ['pages', { kind: 'pdf', size: 100_000 }, { pages: 40 }],
    ['pixels', { kind: 'image', size: 2500 }, { width: 10_000, height: 10_000, frames: 1 }],
    ['frames', { kind: 'image', size: 2500 }, { width: 1000, height: 1000, frames: 100 }],
    ['length', { kind: 'audio', size: 2500 }, { durationSeconds: 3600 }],
  ] as const)('grows with the %s of a file', (_what, input, facts) => {
    expect(cpuBudgetSeconds(input, facts)).toBeGreaterThan(2 * cpuBudgetSeconds({ ...input, size: 2500 }, {}));
  });
});

describe('firstCpuSeconds', () => {
  it.each([
    [0, 30],
    [1024 ** 2, 50],
    [10 * 1024 ** 2, 230],
  ])('allows a file of %i bytes %i seconds until its kind is known', (size, seconds) => {
    expect(firstCpuSeconds(size)).toBe(seconds);
  });
});
