import { beforeEach, describe, expect, it, vi } from 'vitest';
import { reconcile } from '#controller/reconcile.ts';
import { buildReport, buildTicket } from '#test/support/build-media-job.ts';
import { JOB, makeReconciledJob, NAME, type ReconciledJob } from '#test/support/reconciled-job.ts';

const runName = (attempt: number): string => `${NAME}-a${attempt}`;

describe('reconcile', () => {
  let job: ReconciledJob;

  beforeEach(() => {
    job = makeReconciledJob();
  });

  // Promise, States: Processing begins with the worker's first heartbeat; percent never decreases
  it('runs a job from its creation to its success', async () => {
    await job.create();
    expect(await job.step()).toBe('started');
    expect(await job.status()).toBeUndefined();
    expect(job.runs.started[0]?.spec).toMatchObject({
      jobId: JOB,
      attempt: 1,
      heartbeat: { url: 'http://127.0.0.1:8091/heartbeat', intervalSeconds: 1 },
    });
    expect(await job.runs.started[0]?.ticket()).toEqual(buildTicket());

    job.seconds = 1;
    job.beat(1, 2);
    expect(await job.step()).toBe('recorded');
    expect(await job.status()).toMatchObject({
      phase: 'Running',
      attempt: 1,
      percent: 2,
      startedAt: '2026-01-01T00:00:01.000Z',
      reason: 'Running',
      node: 'node-1',
    });

    job.seconds = 2;
    job.beat(1, 50);
    expect(await job.step()).toBe('recorded');
    expect(await job.status()).toMatchObject({ phase: 'Running', percent: 50 });
    job.beat(1, 51);
    expect(await job.step()).toBe('unchanged');

    job.seconds = 9;
    job.runs.end(runName(1), { outcome: 'succeeded', report: buildReport() });
    expect(await job.step()).toBe('succeeded');
    expect(await job.status()).toEqual({
      phase: 'Succeeded',
      attempt: 1,
      disruptions: null,
      percent: 100,
      startedAt: '2026-01-01T00:00:01.000Z',
      completedAt: '2026-01-01T00:00:09.000Z',
      reason: 'Succeeded',
      message: null,
      node: 'node-1',
      report: buildReport(),
      error: null,
    });
    expect(await job.runs.list()).toEqual([]);
    expect(await job.step()).toBe('released');
  });

  it('takes the start of the run when a job ended before its first heartbeat', async () => {
    await job.create();
    await job.step();
    job.runs.end(runName(1), {
      outcome: 'failed',
      error: { code: 'encrypted_pdf', message: 'The PDF needs a password.' },
    });
    expect(await job.step()).toBe('failed');
    expect(await job.status()).toMatchObject({
      phase: 'Failed',
      reason: 'FileRefused',
      startedAt: '2026-01-01T00:00:00.000Z',
      message: 'The PDF needs a password.',
      error: { code: 'encrypted_pdf' },
      report: null,
    });
  });

  it('writes a further attempt before it starts its run, and starts it after a crash in between', async () => {
    await job.create();
    await job.step();
    job.runs.lose(runName(1), 'crashed');
    await job.step();
    job.runs.failNext = new Error('The machine is full.');
    await expect(job.step()).rejects.toThrow('The machine is full.');
    expect(await job.status()).toMatchObject({ attempt: 2, phase: 'Pending', reason: null });
    expect(await job.step()).toBe('started');
    expect(job.runs.started.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  it('identifies a first attempt by its run until the status names it', async () => {
    await job.create({ firstAttempt: 2 });
    await job.step();
    expect(await job.step()).toBe('unchanged');
    expect(job.runs.stopped).toEqual([]);
    job.runs.lose(runName(2), 'crashed');
    expect(await job.step()).toBe('attempt_lost');
    expect(await job.status()).toMatchObject({ attempt: 2, reason: 'AttemptLost' });
  });

  it('records no attempt while there is no capacity', async () => {
    await job.create();
    job.runs.slots = 0;
    expect(await job.step()).toBe('no_capacity');
    expect(await job.status()).toMatchObject({ phase: 'Pending', reason: 'WaitingForCapacity', attempt: 0 });
    const version = (await job.mediaJobs.get(NAME))?.metadata.resourceVersion;
    expect(await job.step()).toBe('no_capacity');
    expect((await job.mediaJobs.get(NAME))?.metadata.resourceVersion).toBe(version);
    job.runs.slots = 1;
    expect(await job.step()).toBe('started');
    expect(await job.status()).toMatchObject({ attempt: 1, reason: null, message: null });
  });

  // Promise, Bad input, case by case: 30 minutes, 4 hours
  // Promise, States: 30 minutes without capacity, or 4 hours of work: timeout
  it('requeues a waiting job for the end of its 30 minutes', async () => {
    await job.create({ waitUntil: '2026-01-01T00:30:00.000Z' });
    job.runs.slots = 0;
    expect((await reconcile(job.deps, NAME)).requeueAt).toEqual(new Date('2026-01-01T00:30:00Z'));
    job.seconds = 1800;
    expect(await job.step()).toBe('failed');
    expect(await job.status()).toMatchObject({ reason: 'WaitTimeout', error: { code: 'timeout' }, startedAt: null });
  });

  it('releases the reserved slot after a write conflict', async () => {
    await job.create();
    job.runs.slots = 0;
    await job.step();
    job.runs.slots = 10;
    vi.spyOn(job.mediaJobs, 'updateStatus').mockResolvedValueOnce('conflict');
    expect((await reconcile(job.deps, NAME)).result).toBe('conflict');
    expect(job.runs.started).toEqual([]);
    job.runs.slots = 1;
    expect(await job.runs.reserve('job-other-a1', { account: 'acc_other', kind: null })).toBe(true);
  });

  it('writes the percentage without delay after a write conflict', async () => {
    await job.create();
    await job.step();
    job.beat(1, 2);
    vi.spyOn(job.mediaJobs, 'updateStatus').mockResolvedValueOnce('conflict');
    expect(await job.step()).toBe('conflict');
    expect(await job.step()).toBe('recorded');
    job.seconds = 1;
    job.beat(1, 50);
    vi.spyOn(job.mediaJobs, 'updateStatus').mockResolvedValueOnce('conflict');
    expect(await job.step()).toBe('conflict');
    expect(await job.step()).toBe('recorded');
    expect(await job.status()).toMatchObject({ percent: 50 });
  });

  it('writes the suspended status once and starts the job when it is resumed', async () => {
    await job.create({ suspend: true, inputSize: null });
    expect(await job.step()).toBe('recorded');
    expect(await job.status()).toMatchObject({ phase: 'Pending', reason: 'Suspended' });
    expect(await job.step()).toBe('unchanged');
    await job.mediaJobs.resume(NAME, {
      inputSize: 77,
      inputEtag: '"f"',
      filename: 'f.mp4',
      kind: 'video',
    });
    expect(await job.step()).toBe('started');
    expect(job.runs.started[0]?.spec.input).toEqual({ size: 77 });
    expect(await job.runs.started[0]?.ticket()).toMatchObject({ inputEtag: '"f"', filename: 'f.mp4' });
  });

  it('stops the run of a MediaJob that was deleted', async () => {
    await job.create();
    await job.step();
    await job.mediaJobs.delete(NAME);
    expect(await job.step()).toBe('released');
    expect(job.runs.stopped).toEqual([runName(1)]);
    expect(await job.runs.list()).toEqual([]);
  });

  it('stops the run of an earlier MediaJob with the same name', async () => {
    job.runs.put({
      name: runName(2),
      owner: { name: NAME, uid: 'uid-before' },
      attempt: 2,
      node: null,
      status: { state: 'active', startedAt: job.deps.clock.now(), isOnReadyNode: true },
    });
    await job.create();
    expect(await job.step()).toBe('started');
    expect(job.runs.stopped).toEqual([runName(2)]);
  });
});
