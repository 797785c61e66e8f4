import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { heartbeatToken } from '#crds/contract/heartbeat-token.ts';
import { systemTime } from '#crds/kube/time.ts';
import { MemoryMediaJobs } from '#crds/media-jobs/memory-media-jobs.ts';
import type { MediaJobClient } from '#crds/media-jobs/media-job-client.ts';
import type { Phase } from '#crds/contract/names.ts';
import { mediaJobName } from '#crds/contract/names.ts';
import { systemClock } from '#crds/process/clock.ts';
import { makeLog } from '#crds/process/log.ts';
import { startController, type Controller, type ControllerDeps } from '#controller/controller.ts';
import { serveWorkerPort, type Heartbeats } from '#controller/worker-port-server.ts';
import { makeControllerMetrics } from '#controller/metrics.ts';
import { LOCAL_TIMING } from '#controller/timing.ts';
import { buildNewMediaJob, buildReport, jobIdOf } from '#test/support/build-media-job.ts';
import { makeScriptedRuns, type ScriptedRuns } from '#test/support/scripted-runs.ts';

const KEY = Buffer.alloc(32, 1);
const WAIT = { timeout: 5000, interval: 5 };
const SUCCEEDED = { outcome: 'succeeded', report: buildReport() } as const;

describe('controller', () => {
  const log = makeLog('test', 'silent');
  let registry: Registry;
  let mediaJobs: MediaJobClient;
  let runs: ScriptedRuns;
  let heartbeats: Heartbeats;
  let controller: Controller | null;
  let uids = 0;

  beforeEach(async () => {
    registry = new Registry();
    mediaJobs = new MemoryMediaJobs({ clock: systemClock, newUid: () => `uid-${(uids += 1)}` });
    runs = makeScriptedRuns(systemClock, 1);
    heartbeats = await serveWorkerPort(
      { clock: systemClock, log, mediaJobs, grantTransfer: async () => null },
      { address: { host: '127.0.0.1', port: 0 }, key: KEY },
    );
    controller = null;
  });
  afterEach(async () => {
    await controller?.stop();
    await heartbeats.close();
  });

  const start = (changes: Partial<ControllerDeps> = {}): void => {
    const metrics = makeControllerMetrics(registry);
    controller = startController({
      mediaJobs,
      runs,
      heartbeats,
      clock: systemClock,
      time: systemTime,
      log,
      tracing: null,
      metrics,
      timing: LOCAL_TIMING,
      ...changes,
    });
  };
  const create = (job: number) =>
    mediaJobs.create(
      buildNewMediaJob({ jobId: jobIdOf(job), waitUntil: new Date(Date.now() + 1_800_000).toISOString() }),
    );
  const nameOf = (job: number): string => mediaJobName(jobIdOf(job));
  const phase = (job: number, expected: Phase) =>
    vi.waitFor(async () => expect((await mediaJobs.get(nameOf(job)))?.status?.phase).toBe(expected), WAIT);
  const startedJobs = (): string[] => runs.started.map(({ spec }) => spec.jobId);
  const metricsText = (): Promise<string> => registry.metrics();

  // Promise, States: Processing begins with the worker's first heartbeat; percent never decreases
  it('starts a created MediaJob, marks it running at its first heartbeat and ends it with its run', async () => {
    start();
    await create(1);
    await vi.waitFor(() => expect(startedJobs()).toEqual([jobIdOf(1)]), WAIT);
    const { url = '' } = runs.started[0]?.spec.heartbeat ?? {};
    await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${heartbeatToken(KEY, jobIdOf(1), 1)}` },
      body: JSON.stringify({ jobId: jobIdOf(1), attempt: 1, percent: 7 }),
    });
    await phase(1, 'Running');
    runs.end(`${nameOf(1)}-a1`, SUCCEEDED);
    await phase(1, 'Succeeded');
  });

  it('starts MediaJobs that were created before it', async () => {
    await create(1);
    start();
    await vi.waitFor(() => expect(startedJobs()).toEqual([jobIdOf(1)]), WAIT);
  });

  it('starts the longest waiting job when a slot becomes free', async () => {
    start({ timing: { ...LOCAL_TIMING, capacityRetryMs: 60_000, resyncMs: 60_000 } });
    await create(1);
    await vi.waitFor(() => expect(startedJobs()).toEqual([jobIdOf(1)]), WAIT);
    for (const job of [2, 3]) {
      await create(job);
      await phase(job, 'Pending');
    }
    for (const job of [1, 2, 3]) {
      await vi.waitFor(() => expect(startedJobs()).toHaveLength(job), WAIT);
      runs.end(`${nameOf(job)}-a1`, SUCCEEDED);
      await phase(job, 'Succeeded');
    }
    expect(startedJobs()).toEqual([1, 2, 3].map(jobIdOf));
  });

  it('retries to reserve a slot without an event', async () => {
    runs.slots = 0;
    start({ timing: { ...LOCAL_TIMING, capacityRetryMs: 20, resyncMs: 60_000 } });
    await create(1);
    await phase(1, 'Pending');
    runs.slots = 1;
    await vi.waitFor(() => expect(startedJobs()).toHaveLength(1), WAIT);
  });

  it('starts a job that waits for a standby while many others wait for a slot', async () => {
    const last = 9;
    const [asked, standby] = [new Set<string>(), { isReady: false }];
    start({
      runs: {
        ...runs,
        reserve: async (name) => name === `${nameOf(last)}-a1`,
        async start(request) {
          asked.add(request.spec.jobId);
          return standby.isReady ? runs.start(request) : 'no-capacity';
        },
      },
      timing: { ...LOCAL_TIMING, capacityRetryMs: 20, resyncMs: 60_000 },
    });
    for (let job = 1; job < last; job += 1) {
      await create(job);
      await phase(job, 'Pending');
    }
    await create(last);
    await vi.waitFor(() => expect([...asked]).toEqual([jobIdOf(last)]), WAIT);
    standby.isReady = true;
    await vi.waitFor(() => expect(startedJobs()).toEqual([jobIdOf(last)]), WAIT);
  });

  it('finds MediaJobs without an event by its resync', async () => {
    vi.spyOn(mediaJobs, 'watch').mockImplementation(() => undefined);
    start({ timing: { ...LOCAL_TIMING, resyncMs: 20 } });
    await create(1);
    await vi.waitFor(() => expect(startedJobs()).toHaveLength(1), WAIT);
  });

  it('resyncs at intervals with jitter', async () => {
    const waits: number[] = [];
    const wait = async (ms: number, signal: AbortSignal): Promise<void> => {
      if (ms === LOCAL_TIMING.silenceCheckMs) return systemTime.wait(ms, signal);
      waits.push(ms);
      if (waits.length === 2) void controller?.stop();
    };
    let random = 0;
    const time = { random: () => (random += 0.5) - 0.5, wait };
    start({ time, timing: { ...LOCAL_TIMING, resyncMs: 1000 } });
    await vi.waitFor(() => expect(waits).toHaveLength(2), WAIT);
    expect(waits).toEqual([900, 1000]);
  });

  it('stops a run whose MediaJob was deleted', async () => {
    const owner = { name: nameOf(9), uid: 'uid-deleted' };
    runs.put({
      name: `${owner.name}-a1`,
      owner,
      attempt: 1,
      node: null,
      status: { state: 'active', startedAt: new Date(), isOnReadyNode: true },
    });
    start();
    await vi.waitFor(() => expect(runs.stopped).toContain(`${owner.name}-a1`), WAIT);
    await vi.waitFor(async () => expect(await runs.list()).toEqual([]), WAIT);
  });

  it('retries after an error and continues with the other jobs', async () => {
    runs.slots = 2;
    runs.failNext = new Error('The machine is full.');
    start();
    await create(1);
    await create(2);
    await vi.waitFor(() => expect(startedJobs().toSorted()).toEqual([1, 2].map(jobIdOf)), WAIT);
    expect(await metricsText()).toContain('mediajobs_controller_reconciles_total{result="error"} 1');
  });

  it('uses metric labels from closed sets only', async () => {
    start();
    await create(1);
    await vi.waitFor(() => expect(startedJobs()).toHaveLength(1), WAIT);
    const text = await metricsText();
    expect(text).toMatch(/mediajobs_controller_runs_active 1/);
    expect(text).toMatch(/mediajobs_controller_queue_depth \d/);
    expect(text).toMatch(/mediajobs_controller_attempts_lost_total\{cause="crashed"\} 0/);
    expect(text).not.toContain('job_');
    expect(text).not.toContain('job-');
  });

  it('starts nothing after it was stopped', async () => {
    start();
    await controller?.stop();
    await create(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(runs.started).toEqual([]);
  });
});
