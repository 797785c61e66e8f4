import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeMemoryMediaJobs } from '#crds/memory-media-jobs.ts';
import type { MediaJobClient } from '#crds/media-job-client.ts';
import type { MediaJobSpec, MediaJobStatus } from '#crds/media-job.ts';
import { mediaJobName } from '#crds/names.ts';
import { makeLog } from '#crds/shared/log.ts';
import type { Heartbeat } from '#controller/heartbeats.ts';
import { makeControllerMetrics } from '#controller/metrics.ts';
import { reconcile, type ReconcileDeps } from '#controller/reconcile.ts';
import { LOCAL_TIMING } from '#controller/timing.ts';
import { buildNewMediaJob, buildReport, jobIdOf } from '#test/support/build-media-job.ts';
import { makeScriptedRuns, type ScriptedRuns } from '#test/support/scripted-runs.ts';

const JOB = jobIdOf(1);
const NAME = mediaJobName(JOB);
const START = Date.parse('2026-01-01T00:00:00Z');

describe('reconcile', () => {
  let seconds: number;
  const clock = { now: () => new Date(START + seconds * 1000) };
  const registry = new Registry();
  const metrics = makeControllerMetrics(registry);
  let mediaJobs: MediaJobClient;
  let runs: ScriptedRuns;
  let beats: Map<string, Heartbeat>;
  let deps: ReconcileDeps;
  let uids: number;

  beforeEach(() => {
    seconds = 0;
    uids = 0;
    registry.resetMetrics();
    mediaJobs = makeMemoryMediaJobs({ clock, newUid: () => `uid-${(uids += 1)}` });
    runs = makeScriptedRuns(clock);
    beats = new Map();
    deps = {
      clock,
      mediaJobs,
      runs,
      heartbeats: {
        url: 'http://127.0.0.1:8091/heartbeat',
        since: clock.now(),
        token: (jobId, attempt) => `token of ${jobId} ${attempt}`,
        last: (jobId, attempt) => beats.get(`${jobId}/${attempt}`) ?? null,
        forget: () => beats.clear(),
      },
      log: makeLog('test', 'silent'),
      metrics,
      timing: LOCAL_TIMING,
      percentWrites: new Map(),
    };
  });

  const create = (spec: Partial<MediaJobSpec> = {}) => mediaJobs.create(buildNewMediaJob(spec));
  const step = async (): Promise<string> => (await reconcile(deps, NAME)).result;
  const status = async (): Promise<MediaJobStatus | undefined> => (await mediaJobs.get(NAME))?.status;
  const beat = (attempt: number, percent: number): void => {
    const firstAt = beats.get(`${JOB}/${attempt}`)?.firstAt ?? clock.now();
    beats.set(`${JOB}/${attempt}`, { firstAt, lastAt: clock.now(), percent });
  };
  const runName = (attempt: number): string => `${NAME}-a${attempt}`;
  const lostCount = async (reason: string): Promise<number | undefined> => {
    const metric = await registry.getSingleMetric('mediajobs_controller_attempts_lost_total')?.get();
    return metric?.values.find(({ labels }) => labels['reason'] === reason)?.value;
  };

  it('takes a job from its creation to its success', async () => {
    await create();
    expect(await step()).toBe('started');
    expect(await status()).toMatchObject({ phase: 'Pending', attempt: 1, reason: null });
    expect(runs.started[0]?.spec).toMatchObject({
      jobId: JOB,
      attempt: 1,
      output: { url: 'http://127.0.0.1:1/output-1' },
      heartbeat: { url: 'http://127.0.0.1:8091/heartbeat', token: `token of ${JOB} 1`, intervalSeconds: 1 },
    });

    seconds = 1;
    beat(1, 2);
    expect(await step()).toBe('recorded');
    expect(await status()).toMatchObject({ phase: 'Running', percent: 2, startedAt: '2026-01-01T00:00:01.000Z', reason: 'Running', node: 'node-1' });

    seconds = 2;
    beat(1, 50);
    expect(await step()).toBe('recorded');
    expect(await status()).toMatchObject({ phase: 'Running', percent: 50 });
    beat(1, 51);
    expect(await step()).toBe('unchanged');

    seconds = 9;
    runs.end(runName(1), { outcome: 'succeeded', report: buildReport() });
    expect(await step()).toBe('succeeded');
    expect(await status()).toEqual({
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
    expect(await runs.list()).toEqual([]);
    expect(await step()).toBe('released');
  });

  it('gives a job that ended before its heartbeat was seen the start of its run', async () => {
    await create();
    await step();
    runs.end(runName(1), { outcome: 'failed', error: { code: 'encrypted_pdf', message: 'The PDF needs a password.' } });
    expect(await step()).toBe('failed');
    expect(await status()).toMatchObject({
      phase: 'Failed',
      reason: 'FileRefused',
      startedAt: '2026-01-01T00:00:00.000Z',
      message: 'The PDF needs a password.',
      error: { code: 'encrypted_pdf' },
      report: null,
    });
  });

  it('writes the attempt before it starts the run, and starts it after a crash between the two', async () => {
    await create();
    runs.failNext = new Error('The machine is full.');
    await expect(step()).rejects.toThrow('The machine is full.');
    expect(await status()).toMatchObject({ attempt: 1, phase: 'Pending' });
    expect(await step()).toBe('started');
    expect(runs.started.map(({ attempt }) => attempt)).toEqual([1]);
  });

  it('records no attempt while there is no place', async () => {
    await create();
    runs.places = 0;
    expect(await step()).toBe('no_capacity');
    expect(await status()).toMatchObject({ phase: 'Pending', reason: 'WaitingForCapacity', attempt: 0 });
    const version = (await mediaJobs.get(NAME))?.metadata.resourceVersion;
    expect(await step()).toBe('no_capacity');
    expect((await mediaJobs.get(NAME))?.metadata.resourceVersion).toBe(version);
    runs.places = 1;
    expect(await step()).toBe('started');
    expect(await status()).toMatchObject({ attempt: 1, reason: null, message: null });
  });

  it('looks again when the 30 minutes of a waiting job are over', async () => {
    await create({ waitUntil: '2026-01-01T00:30:00.000Z' });
    runs.places = 0;
    expect((await reconcile(deps, NAME)).again).toEqual(new Date('2026-01-01T00:30:00Z'));
    seconds = 1800;
    expect(await step()).toBe('failed');
    expect(await status()).toMatchObject({ reason: 'WaitTimeout', error: { code: 'timeout' }, startedAt: null });
  });

  it('gives the place back when another writer was faster', async () => {
    await create();
    const stale = { ...deps, mediaJobs: { ...mediaJobs, updateStatus: async () => 'conflict' as const } };
    expect((await reconcile(stale, NAME)).result).toBe('conflict');
    expect(runs.started).toEqual([]);
    runs.places = 1;
    expect(await runs.reserve('job-other-a1')).toBe(true);
  });

  it('marks a suspended job once and starts it when it is resumed', async () => {
    await create({ suspend: true, inputSize: null });
    expect(await step()).toBe('recorded');
    expect(await status()).toMatchObject({ phase: 'Pending', reason: 'Suspended' });
    expect(await step()).toBe('unchanged');
    await mediaJobs.resume(NAME, { inputSize: 77, inputUrl: 'http://127.0.0.1:1/fetched', inputEtag: '"f"', filename: 'f.mp4', kind: 'video' });
    expect(await step()).toBe('started');
    expect(runs.started[0]?.spec.input).toEqual({ url: 'http://127.0.0.1:1/fetched', etag: '"f"', size: 77 });
  });

  it('gives each lost attempt a next one with another output, up to three, and then fails', async () => {
    await create();
    for (const attempt of [1, 2, 3]) {
      expect(await step()).toBe('started');
      beat(attempt, 60 / attempt);
      expect(await step()).toBe('recorded');
      expect(await status()).toMatchObject({ phase: 'Running', attempt, percent: 60 });
      runs.lose(runName(attempt), 'crashed');
      expect(await step()).toBe('attempt_lost');
      expect(await status()).toMatchObject({ phase: 'Pending', attempt, reason: 'AttemptLost', message: `Attempt ${attempt} was lost: it was lost: crashed.` });
    }
    expect(await step()).toBe('failed');
    expect(await status()).toMatchObject({ phase: 'Failed', attempt: 3, reason: 'AttemptsExhausted', error: { code: 'internal' }, report: null });
    expect(runs.started.map(({ spec }) => spec.output.url.slice(-1))).toEqual(['1', '2', '3']);
    expect(await lostCount('crashed')).toBe(3);
  });

  it('stops a silent run and never adopts what it still reports', async () => {
    await create();
    await step();
    seconds = 60;
    expect(await step()).toBe('attempt_lost');
    expect(runs.stopped).toEqual([runName(1)]);
    expect(await step()).toBe('started');
    expect(await status()).toMatchObject({ attempt: 2 });
    expect(await lostCount('no_heartbeat')).toBe(1);
  });

  it('ends the job when two attempts ran out of memory', async () => {
    await create();
    await step();
    runs.lose(runName(1), 'out_of_memory');
    expect(await step()).toBe('attempt_lost');
    await step();
    runs.lose(runName(2), 'out_of_memory');
    expect(await step()).toBe('failed');
    expect(await status()).toMatchObject({ reason: 'OutOfMemory', error: { code: 'processing_failed' } });
  });

  it('starts the next attempt when a running run was deleted by hand', async () => {
    await create();
    await step();
    beat(1, 1);
    await step();
    runs.vanish(runName(1));
    expect(await step()).toBe('attempt_lost');
    expect(await step()).toBe('started');
    expect(await status()).toMatchObject({ attempt: 2 });
  });

  it('keeps a lost attempt recorded while the next one has no place', async () => {
    await create();
    await step();
    runs.lose(runName(1), 'crashed');
    await step();
    runs.places = 0;
    expect(await step()).toBe('no_capacity');
    expect(await status()).toMatchObject({ attempt: 1, reason: 'AttemptLost' });
  });

  it('stops a run over 4 hours and fails with timeout', async () => {
    await create();
    await step();
    beat(1, 1);
    await step();
    seconds = 4 * 3600;
    beat(1, 99);
    expect(await step()).toBe('failed');
    expect(await status()).toMatchObject({ reason: 'RunTimeout', error: { code: 'timeout' } });
    expect(runs.stopped).toEqual([runName(1)]);
  });

  it('gives a further attempt only what is left of the 4 hours', async () => {
    await create();
    await step();
    beat(1, 1);
    await step();
    seconds = 3600;
    runs.lose(runName(1), 'crashed');
    await step();
    await step();
    expect(runs.started.map(({ spec }) => spec.timeoutSeconds)).toEqual([4 * 3600, 3 * 3600]);
  });

  it('stops the run of a MediaJob that was deleted', async () => {
    await create();
    await step();
    await mediaJobs.delete(NAME);
    expect(await step()).toBe('released');
    expect(runs.stopped).toEqual([runName(1)]);
    expect(await runs.list()).toEqual([]);
  });

  it('stops the run of an earlier MediaJob that had the name', async () => {
    runs.put({ name: runName(2), owner: { name: NAME, uid: 'uid-before' }, attempt: 2, node: null, is: { state: 'active', startedAt: clock.now() } });
    await create();
    expect(await step()).toBe('started');
    expect(runs.stopped).toEqual([runName(2)]);
  });

  it('does not start a job without its ticket', async () => {
    await create();
    const without = { ...deps, mediaJobs: { ...mediaJobs, ticket: async () => null } };
    await expect(reconcile(without, NAME)).rejects.toThrow('has no ticket');
    expect(await status()).toBeUndefined();
  });
});
