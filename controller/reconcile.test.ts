import { beforeEach, describe, expect, it } from 'vitest';
import { reconcile } from '#controller/reconcile.ts';
import { buildReport } from '#test/support/build-media-job.ts';
import { JOB, makeReconciledJob, NAME, type ReconciledJob } from '#test/support/reconciled-job.ts';

const runName = (attempt: number): string => `${NAME}-a${attempt}`;

describe('reconcile', () => {
  let job: ReconciledJob;

  beforeEach(() => {
    job = makeReconciledJob();
  });

  it('takes a job from its creation to its success', async () => {
    await job.create();
    expect(await job.step()).toBe('started');
    expect(await job.status()).toMatchObject({ phase: 'Pending', attempt: 1, reason: null });
    expect(job.runs.started[0]?.spec).toMatchObject({
      jobId: JOB,
      attempt: 1,
      output: { url: 'http://127.0.0.1:1/output-1', parts: null },
      heartbeat: { url: 'http://127.0.0.1:8091/heartbeat', token: `token of ${JOB} 1`, intervalSeconds: 1 },
    });

    job.seconds = 1;
    job.beat(1, 2);
    expect(await job.step()).toBe('recorded');
    expect(await job.status()).toMatchObject({
      phase: 'Running',
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

  it('gives a job that ended before its heartbeat was seen the start of its run', async () => {
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

  it('writes the attempt before it starts the run, and starts it after a crash between the two', async () => {
    await job.create();
    job.runs.failNext = new Error('The machine is full.');
    await expect(job.step()).rejects.toThrow('The machine is full.');
    expect(await job.status()).toMatchObject({ attempt: 1, phase: 'Pending' });
    expect(await job.step()).toBe('started');
    expect(job.runs.started.map(({ attempt }) => attempt)).toEqual([1]);
  });

  it('records no attempt while there is no place', async () => {
    await job.create();
    job.runs.places = 0;
    expect(await job.step()).toBe('no_capacity');
    expect(await job.status()).toMatchObject({ phase: 'Pending', reason: 'WaitingForCapacity', attempt: 0 });
    const version = (await job.mediaJobs.get(NAME))?.metadata.resourceVersion;
    expect(await job.step()).toBe('no_capacity');
    expect((await job.mediaJobs.get(NAME))?.metadata.resourceVersion).toBe(version);
    job.runs.places = 1;
    expect(await job.step()).toBe('started');
    expect(await job.status()).toMatchObject({ attempt: 1, reason: null, message: null });
  });

  it('looks again when the 30 minutes of a waiting job are over', async () => {
    await job.create({ waitUntil: '2026-01-01T00:30:00.000Z' });
    job.runs.places = 0;
    expect((await reconcile(job.deps, NAME)).again).toEqual(new Date('2026-01-01T00:30:00Z'));
    job.seconds = 1800;
    expect(await job.step()).toBe('failed');
    expect(await job.status()).toMatchObject({ reason: 'WaitTimeout', error: { code: 'timeout' }, startedAt: null });
  });

  it('gives the place back when another writer was faster', async () => {
    await job.create();
    const stale = { ...job.deps, mediaJobs: { ...job.mediaJobs, updateStatus: async () => 'conflict' as const } };
    expect((await reconcile(stale, NAME)).result).toBe('conflict');
    expect(job.runs.started).toEqual([]);
    job.runs.places = 1;
    expect(await job.runs.reserve('job-other-a1')).toBe(true);
  });

  it('marks a suspended job once and starts it when it is resumed', async () => {
    await job.create({ suspend: true, inputSize: null });
    expect(await job.step()).toBe('recorded');
    expect(await job.status()).toMatchObject({ phase: 'Pending', reason: 'Suspended' });
    expect(await job.step()).toBe('unchanged');
    await job.mediaJobs.resume(NAME, {
      inputSize: 77,
      inputUrl: 'http://127.0.0.1:1/fetched',
      inputEtag: '"f"',
      filename: 'f.mp4',
      kind: 'video',
    });
    expect(await job.step()).toBe('started');
    expect(job.runs.started[0]?.spec.input).toEqual({ url: 'http://127.0.0.1:1/fetched', etag: '"f"', size: 77 });
  });

  it('stops the run of a MediaJob that was deleted', async () => {
    await job.create();
    await job.step();
    await job.mediaJobs.delete(NAME);
    expect(await job.step()).toBe('released');
    expect(job.runs.stopped).toEqual([runName(1)]);
    expect(await job.runs.list()).toEqual([]);
  });

  it('stops the run of an earlier MediaJob that had the name', async () => {
    job.runs.put({
      name: runName(2),
      owner: { name: NAME, uid: 'uid-before' },
      attempt: 2,
      node: null,
      is: { state: 'active', startedAt: job.deps.clock.now() },
    });
    await job.create();
    expect(await job.step()).toBe('started');
    expect(job.runs.stopped).toEqual([runName(2)]);
  });

  it('does not start a job without its ticket', async () => {
    await job.create();
    const without = { ...job.deps, mediaJobs: { ...job.mediaJobs, ticket: async () => null } };
    expect((await reconcile(without, NAME)).result).toBe('no_ticket');
    job.seconds = 60;
    await expect(reconcile(without, NAME)).rejects.toThrow('has no ticket');
    expect(await job.status()).toBeUndefined();
  });
});
