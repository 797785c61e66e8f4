import { beforeEach, describe, expect, it } from 'vitest';
import { completeRunSpec } from '#crds/contract/run-spec.ts';
import type { LostCause } from '#controller/runs.ts';
import { buildTicket } from '#test/support/build-media-job.ts';
import { makeReconciledJob, NAME, type ReconciledJob } from '#test/support/reconciled-job.ts';

const runName = (attempt: number): string => `${NAME}-a${attempt}`;

describe('reconcile with lost attempts', () => {
  let job: ReconciledJob;

  beforeEach(() => {
    job = makeReconciledJob();
  });

  // Promise, States: A job whose attempts were lost three times fails with internal
  it('starts a next attempt with another token after each lost one, and fails after three', async () => {
    await job.create();
    for (const attempt of [1, 2, 3]) {
      expect(await job.step()).toBe('started');
      job.beat(attempt, 60 / attempt);
      expect(await job.step()).toBe('recorded');
      expect(await job.status()).toMatchObject({ phase: 'Running', attempt, percent: 60 });
      job.runs.lose(runName(attempt), 'crashed');
      expect(await job.step()).toBe('attempt_lost');
      expect(await job.status()).toMatchObject({
        phase: 'Pending',
        attempt,
        reason: 'AttemptLost',
        message: `Attempt ${attempt} was lost: it was lost: crashed.`,
      });
    }
    expect(await job.step()).toBe('failed');
    expect(await job.status()).toMatchObject({
      phase: 'Failed',
      attempt: 3,
      reason: 'AttemptsExhausted',
      error: { code: 'internal' },
      report: null,
    });
    const whole = job.runs.started.map(async ({ spec, ticket }) =>
      completeRunSpec(spec, (await ticket()) ?? buildTicket()),
    );
    const tokens = (await Promise.all(whole)).map(({ heartbeat }) => heartbeat.token);
    expect(tokens).toEqual(['token-1', 'token-2', 'token-3']);
    expect(await job.lostCount('crashed')).toBe(3);
  });

  it('counts up to five evictions beside the three attempts', async () => {
    await job.create();
    const lose = async (attempt: number, cause: LostCause): Promise<void> => {
      expect(await job.step()).toBe('started');
      job.runs.lose(runName(attempt), cause);
      expect(await job.step()).toBe('attempt_lost');
    };
    await lose(1, 'crashed');
    for (const attempt of [2, 3, 4, 5, 6]) await lose(attempt, 'evicted');
    expect(await job.status()).toMatchObject({ attempt: 6, disruptions: 5, reason: 'AttemptLost' });
    await lose(7, 'evicted');
    await lose(8, 'crashed');
    expect(await job.step()).toBe('failed');
    expect(await job.status()).toMatchObject({
      attempt: 8,
      reason: 'AttemptsExhausted',
      error: { code: 'internal', message: expect.stringContaining('started 8 times') },
    });
  });

  it('counts the evictions of earlier MediaJobs of the job', async () => {
    await job.create({ firstAttempt: 6, disruptions: 4 });
    expect(await job.step()).toBe('started');
    job.runs.lose(runName(6), 'evicted');
    expect(await job.step()).toBe('attempt_lost');
    expect(await job.status()).toMatchObject({ attempt: 6, disruptions: 5 });
    expect(await job.step()).toBe('started');
  });

  it('stops a run without further heartbeats and ignores its later report', async () => {
    await job.create();
    await job.step();
    job.beat(1, 5);
    await job.step();
    job.seconds = 60;
    expect(await job.step()).toBe('attempt_lost');
    expect(job.runs.stopped).toEqual([runName(1)]);
    expect(await job.step()).toBe('started');
    expect(await job.status()).toMatchObject({ attempt: 2 });
    expect(await job.lostCount('no_heartbeat')).toBe(1);
  });

  it('fails the job when two attempts ran out of memory', async () => {
    await job.create();
    await job.step();
    job.runs.lose(runName(1), 'out_of_memory');
    expect(await job.step()).toBe('attempt_lost');
    await job.step();
    job.runs.lose(runName(2), 'out_of_memory');
    expect(await job.step()).toBe('failed');
    expect(await job.status()).toMatchObject({ reason: 'OutOfMemory', error: { code: 'processing_failed' } });
  });

  it('starts the next attempt when an active run was deleted', async () => {
    await job.create();
    await job.step();
    job.beat(1, 1);
    await job.step();
    job.runs.vanish(runName(1));
    expect(await job.step()).toBe('attempt_lost');
    expect(await job.step()).toBe('started');
    expect(await job.status()).toMatchObject({ attempt: 2 });
  });

  it('keeps the lost attempt in the status while the next one waits for capacity', async () => {
    await job.create();
    await job.step();
    job.runs.lose(runName(1), 'crashed');
    await job.step();
    job.runs.slots = 0;
    expect(await job.step()).toBe('no_capacity');
    expect(await job.status()).toMatchObject({ attempt: 1, reason: 'AttemptLost' });
  });

  // Promise, States: A job whose attempts were lost three times fails with internal
  it('fails a job with the number of the third attempt when all three were lost with earlier MediaJobs', async () => {
    await job.create({ firstAttempt: 4 });
    expect(await job.step()).toBe('failed');
    expect(await job.status()).toMatchObject({ attempt: 3, reason: 'AttemptsExhausted', error: { code: 'internal' } });
  });

  // Promise, Bad input, case by case: 30 minutes, 4 hours
  // Promise, States: 30 minutes without capacity, or 4 hours of work: timeout
  it('stops a run after 4 hours and fails with timeout', async () => {
    await job.create();
    await job.step();
    job.beat(1, 1);
    await job.step();
    job.seconds = 4 * 3600;
    job.beat(1, 99);
    expect(await job.step()).toBe('failed');
    expect(await job.status()).toMatchObject({ reason: 'RunTimeout', error: { code: 'timeout' } });
    expect(job.runs.stopped).toEqual([runName(1)]);
  });

  // Promise, States: 30 minutes without capacity, or 4 hours of work: timeout
  it('starts a further attempt with the rest of the 4 hours as its timeout', async () => {
    await job.create();
    await job.step();
    job.beat(1, 1);
    await job.step();
    job.seconds = 3600;
    job.runs.lose(runName(1), 'crashed');
    await job.step();
    await job.step();
    expect(job.runs.started.map(({ spec }) => spec.timeoutSeconds)).toEqual([4 * 3600, 3 * 3600]);
  });
});
