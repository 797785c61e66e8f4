import { describe, expect, it } from 'vitest';
import { countSilent, NEVER_SUSPENDED, nextSilenceRule, type SilenceRule } from '#controller/collective-silence.ts';
import { CLUSTER_TIMING } from '#controller/timing.ts';

const NOW = new Date('2026-01-01T01:00:00Z');
const ago = (seconds: number): Date => new Date(NOW.getTime() - seconds * 1000);
const next = (before: SilenceRule, silent: number, heard: number) =>
  nextSilenceRule(before, { silent, running: silent + heard }, NOW);

describe('nextSilenceRule', () => {
  it.each([
    ['all of twenty attempts', 20, 0, true],
    ['more than half of them', 11, 9, true],
    ['half of them', 10, 10, false],
    ['three of three', 3, 0, true],
    ['two of two', 2, 0, false],
    ['none', 0, 20, false],
  ])('decides about the suspension when %s are silent', (_what, silent, heard, isSuspended) => {
    expect(next(NEVER_SUSPENDED, silent, heard).isSuspended).toBe(isSuspended);
  });

  it('records when the suspension ended', () => {
    const suspended = next(NEVER_SUSPENDED, 20, 0);
    expect(suspended.resumedAt).toBeNull();
    expect(next(suspended, 5, 15)).toEqual({ isSuspended: false, resumedAt: NOW });
  });

  it('counts attempts as silent before the first of them is lost', () => {
    const silentSince = [ago(29), ago(30), ago(59)];
    expect(countSilent(CLUSTER_TIMING, { now: NOW, silentSince })).toEqual({ running: 3, silent: 2 });
  });
});
