import { describe, expect, it } from 'vitest';
import type { JobStatus } from '#api/jobs/job.ts';
import { isFinal, mayFollow, wrongEnd, wrongLedger, wrongSchedule } from '#test/faults/life-cycles.ts';

const FINAL = ['succeeded', 'failed', 'canceled'] as const;
const [T1, T2, T3] = [1, 2, 3].map((second) => new Date(second * 1000)) as [Date, Date, Date];
const job = {
  status: 'succeeded' as JobStatus,
  livemode: true,
  billed: true,
  keptOriginal: false,
  hasError: false,
  hasResult: true,
  times: [T1, T2, T3] as readonly (Date | null)[],
};
const failed = { ...job, status: 'failed' as const, billed: false, hasError: true, hasResult: false };

describe('mayFollow', () => {
  it.each(FINAL)('allows no status but itself after %s', (status) => {
    const all: readonly JobStatus[] = ['queued', 'processing', ...FINAL];
    expect(all.filter((after) => mayFollow(status, after))).toEqual([status]);
    expect(isFinal(status)).toBe(true);
  });

  it('allows no return to the queue', () => {
    expect(mayFollow('processing', 'queued')).toBe(false);
    expect([isFinal('queued'), isFinal('processing')]).toEqual([false, false]);
  });
});

describe('wrongEnd', () => {
  it.each([
    ['a billed success', job],
    ['a success that kept the original', { ...job, billed: false, keptOriginal: true }],
    ['a success in test mode', { ...job, billed: false, livemode: false }],
    ['a failure', failed],
    ['a job that never started', { ...failed, times: [T1, null, T2] }],
  ])('accepts %s', (_what, one) => {
    expect(wrongEnd(one)).toEqual([]);
  });

  it.each([
    ['an unfinished job', { ...failed, status: 'processing' as const }],
    ['a success without a result', { ...job, hasResult: false }],
    ['a success with an error', { ...job, hasError: true }],
    ['a failure without an error', { ...failed, hasError: false }],
    ['a billed failure', { ...failed, billed: true }],
    ['a success that is not billed', { ...job, billed: false }],
    ['a billed job of test mode', { ...job, livemode: false }],
    ['an end before the start', { ...job, times: [T1, T3, T2] }],
  ])('reports %s', (_what, one) => {
    expect(wrongEnd(one)).toHaveLength(1);
  });
});

describe('wrongLedger', () => {
  it.each([
    ['none', []],
    ['billed', [{ meter: 'image' }]],
    ['unbilled', [{ meter: 'unbilled' }]],
  ] as const)('accepts the rows of a piece of work that is %s', (expected, rows) => {
    expect(wrongLedger(rows, expected)).toBeNull();
  });

  it.each([
    ['billed', []],
    ['billed', [{ meter: 'image' }, { meter: 'image' }]],
    ['billed', [{ meter: 'unbilled' }]],
    ['none', [{ meter: 'unbilled' }]],
  ] as const)('reports, for work that is %s, the rows %o', (expected, rows) => {
    expect(wrongLedger(rows, expected)).toContain('ledger rows');
  });
});

describe('wrongSchedule', () => {
  it('accepts attempts at the scheduled times or later', () => {
    expect(wrongSchedule([0, 10, 70, 370, 2170, 9370, 30_970, 74_170], 0)).toEqual([]);
    expect(wrongSchedule([0, 500], 0)).toEqual([]);
  });

  it('reports an early attempt, unless a crash may have repeated it', () => {
    expect(wrongSchedule([0, 5], 0)).toHaveLength(1);
    expect(wrongSchedule([0, 5], 1)).toEqual([]);
  });

  it('reports a ninth attempt', () => {
    expect(wrongSchedule([0, 10, 70, 370, 2170, 9370, 30_970, 74_170, 200_000], 0)).toHaveLength(1);
  });
});
