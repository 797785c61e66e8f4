import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveOptions } from '#crds/catalogue/options/options.ts';
import { fileLimits } from '#crds/catalogue/plans.ts';
import {
  STANDBY_JOBS,
  STANDBY_KIND,
  STANDBY_TOKEN_FILE,
  STANDBY_URL,
  TERMINATION_FILE,
} from '#crds/contract/run-files.ts';
import { runOutcomeSchema, type AttemptId, type RunSpec } from '#crds/contract/run-spec.ts';
import { startStoreHost, type StoreHost } from '#test/support/store-host.ts';

const SCRIPT = join(import.meta.dirname, 'run-standby.ts');
const ETAG = '"v1"';

describe('run-standby', () => {
  let directory: string;
  let host: StoreHost;
  let photo: Buffer;
  /** Response to a standby that asks for its run. */
  let respond: (finished: AttemptId | null) => RunSpec | number;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'run-standby-'));
    await writeFile(join(directory, 'token'), 'pod-token');
    photo = await sharp({ create: { width: 300, height: 200, channels: 3, background: '#888' } })
      .jpeg()
      .toBuffer();
    host = await startStoreHost({ input: photo, etag: ETAG, standby: (finished) => respond(finished) });
  });
  afterEach(async () => {
    await host.close();
    await rm(directory, { recursive: true });
  });

  const specOf = (changes: Partial<RunSpec> = {}): RunSpec => ({
    jobId: 'job_00000000000000000001',
    attempt: 1,
    operation: 'compress',
    filename: 'photo.jpg',
    options: resolveOptions(new Map()),
    limits: fileLimits('payg'),
    features: { video: true, heicOutput: false },
    timeoutSeconds: 60,
    dispatch: 'nonce',
    input: { etag: ETAG, size: photo.length },
    heartbeat: { url: `${host.url}/heartbeat`, token: 'beat-token', intervalSeconds: 10 },
    ...changes,
  });

  const run = async (onRequest: (pid: number) => void = () => undefined, jobs = 1) => {
    const child = spawn(process.execPath, [SCRIPT], {
      env: {
        PATH: process.env['PATH'],
        MEDIAJOBS_WORK_DIR: directory,
        MEDIAJOBS_LOG_LEVEL: 'silent',
        [STANDBY_URL]: `${host.url}/standby`,
        [STANDBY_TOKEN_FILE]: join(directory, 'token'),
        [STANDBY_KIND]: 'image',
        [STANDBY_JOBS]: String(jobs),
        [TERMINATION_FILE]: join(directory, 'outcome.json'),
      },
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    const exited = once(child, 'exit');
    await expect.poll(() => host.standbys.length, { timeout: 30_000 }).toBeGreaterThan(0);
    onRequest(child.pid ?? 0);
    const [code] = (await exited) as [number | null];
    const text = await readFile(join(directory, 'outcome.json'), 'utf8').catch(() => null);
    return { code, outcome: text === null || text === '' ? null : runOutcomeSchema.parse(JSON.parse(text)) };
  };

  it('asks for its run with the token of its pod, performs it and reports the outcome as in its termination file', async () => {
    let requests = 0;
    respond = () => ((requests += 1) < 3 ? 204 : specOf());
    const { code, outcome } = await run();
    expect(code).toBe(0);
    expect(outcome).toMatchObject({ outcome: 'succeeded', report: { result: { kind: 'image' } } });
    expect(host.standbys).toEqual(['Bearer pod-token', 'Bearer pod-token', 'Bearer pod-token']);
    expect(host.beats[0]).toEqual({ percent: 0, authorization: 'Bearer beat-token' });
    expect(host.outputs).toHaveLength(1);
    const { jobId, attempt, dispatch } = specOf();
    const [report] = host.reports;
    expect(report).toMatchObject({ authorization: 'Bearer beat-token', body: { jobId, attempt, dispatch } });
    expect(JSON.parse(report?.body.outcome ?? '')).toEqual(outcome);
    expect((await readdir(directory)).toSorted()).toEqual(['outcome.json', 'token']);
  });

  it('performs one attempt after the other, and keeps no outcome of those that it has reported', async () => {
    const ids = ['job_00000000000000000001', 'job_00000000000000000002', 'job_00000000000000000003'];
    const requested: (AttemptId | null)[] = [];
    respond = (finished) => {
      requested.push(finished);
      const jobId = ids[requested.length - 1];
      return jobId === undefined ? 204 : specOf({ jobId });
    };
    const { code, outcome } = await run(undefined, 10);
    expect([code, outcome]).toEqual([0, null]);
    expect(requested).toEqual([null, ...ids.map((jobId) => ({ jobId, attempt: 1 }))]);
    expect(host.reports.map(({ body }) => body.jobId)).toEqual(ids);
    for (const { body } of host.reports) expect(JSON.parse(body.outcome)).toMatchObject({ outcome: 'succeeded' });
    expect(host.outputs).toHaveLength(3);
    expect((await readdir(directory)).toSorted()).toEqual(['outcome.json', 'token']);
  });

  it('ends with its last outcome after as many attempts as it may perform', async () => {
    let count = 0;
    respond = () => specOf({ jobId: `job_0000000000000000000${(count += 1)}` });
    const { code, outcome } = await run(undefined, 2);
    expect([code, outcome?.outcome]).toEqual([0, 'succeeded']);
    expect(host.standbys).toHaveLength(2);
    expect(host.reports).toHaveLength(2);
  });

  it('goes on after a refused file, with another engine process', async () => {
    let count = 0;
    respond = () => {
      count += 1;
      if (count > 2) return 204;
      return specOf({
        jobId: `job_0000000000000000000${count}`,
        input: { etag: ETAG, size: photo.length + (count === 1 ? 1 : 0) },
      });
    };
    await run(undefined, 5);
    const outcomes = host.reports.map(({ body }) => (JSON.parse(body.outcome) as { outcome: string }).outcome);
    expect(outcomes).toEqual(['failed', 'succeeded']);
  });

  it('reports why it refused a file', async () => {
    respond = () => specOf({ input: { etag: ETAG, size: photo.length + 1 } });
    expect(await run()).toMatchObject({ code: 0, outcome: { outcome: 'failed', error: { code: 'input_changed' } } });
    expect(host.reports).toHaveLength(1);
  });

  it('ends with code 0 and without an outcome when there will be no run', async () => {
    respond = () => 410;
    expect(await run()).toEqual({ code: 0, outcome: null });
    expect(host.reports).toEqual([]);
  });

  it('ends at once on SIGTERM while it waits', async () => {
    respond = () => 204;
    expect(await run((pid) => process.kill(pid, 'SIGTERM'))).toEqual({ code: 0, outcome: null });
  });

  it('ends without an outcome when the controller has fenced the attempt', async () => {
    respond = () => specOf({ heartbeat: { ...specOf().heartbeat, url: `${host.url}/fenced/heartbeat` } });
    expect(await run()).toEqual({ code: 143, outcome: null });
    expect(host.reports).toEqual([]);
  });
});
