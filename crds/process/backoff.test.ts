import { describe, expect, it } from 'vitest';
import { backoffMs } from '#crds/process/backoff.ts';

describe('backoffMs', () => {
  it.each([
    [0, 100],
    [1, 200],
    [3, 800],
    [4, 1000],
    [5000, 1000],
  ])('after %i earlier failures returns %i ms', (failures, delay) => {
    expect(backoffMs({ firstMs: 100, maxMs: 1000 }, failures)).toBe(delay);
  });
});
