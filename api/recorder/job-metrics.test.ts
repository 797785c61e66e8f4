import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Job } from '#api/jobs/job.ts';
import { makeJobMetrics, type JobMetrics } from '#api/recorder/job-metrics.ts';
import { testDatabase } from '#test/support/database.ts';
import { buildAccount, buildJob, readJob } from '#test/support/job-builder.ts';

const NOW = new Date('2026-01-01T12:00:00Z');
const ago = (seconds: number): Date => new Date(NOW.getTime() - seconds * 1000);
const database = await testDatabase();

describe('the metrics of jobs', () => {
  let registry: Registry;
  let metrics: JobMetrics;
  let accountId: string;

  beforeEach(async () => {
    await database.query('delete from jobs');
    accountId = (await buildAccount(database)).id;
    registry = new Registry();
    metrics = makeJobMetrics({ database, clock: { now: () => NOW } }, registry);
  });

  const valueOf = async (name: string, labels: Record<string, string>): Promise<number | undefined> => {
    const metric = await registry.getSingleMetric(name)?.get();
    return metric?.values.find((value) =>
      Object.entries({ metricName: undefined, ...labels }).every(
        ([label, wanted]) => wanted === undefined || { ...value, ...value.labels }[label] === wanted,
      ),
    )?.value;
  };
  const ended = async (changes: Partial<Job>): Promise<void> => {
    const { id } = await buildJob(database, accountId, { inputFilename: 'photo.jpg', createdAt: ago(100) });
    const job = await readJob(database, id);
    metrics.ended({ ...job, startedAt: ago(60), completedAt: NOW, ...changes });
  };

  it('count the queued jobs by kind, with the age of the oldest', async () => {
    for (const [inputFilename, seconds] of [
      ['a.jpg', 30],
      ['b.PNG', 90],
      ['c.mp4', 10],
      [null, 5],
    ] as const)
      await buildJob(database, accountId, { inputFilename, createdAt: ago(seconds) });
    await buildJob(database, accountId, { inputFilename: 'd.jpg', createdAt: ago(900), inputStored: false });
    const queues = { image: [2, 90], video: [1, 10], unknown: [1, 5], audio: [0, 0] };
    for (const [kind, [jobs, seconds]] of Object.entries(queues)) {
      expect(await valueOf('mediajobs_jobs_queued', { kind })).toBe(jobs);
      expect(await valueOf('mediajobs_jobs_oldest_queued_seconds', { kind })).toBe(seconds);
    }
  });

  it('count ended jobs by outcome and code, with the times for which they waited and ran', async () => {
    await ended({ status: 'succeeded' });
    await ended({ status: 'failed', error: { type: 'api_error', code: 'internal', message: 'No.' } });
    await ended({ status: 'failed', startedAt: null, error: { type: 'api_error', code: 'timeout', message: 'No.' } });
    const count = (outcome: string, code: string) =>
      valueOf('mediajobs_jobs_ended_total', { kind: 'image', outcome, code });
    expect([
      await count('succeeded', 'none'),
      await count('failed', 'internal'),
      await count('failed', 'timeout'),
    ]).toEqual([1, 1, 1]);
    const sumOf = (name: string) => valueOf(name, { metricName: `${name}_sum`, kind: 'image' });
    expect(await sumOf('mediajobs_job_wait_seconds')).toBe(80);
    expect(await sumOf('mediajobs_job_run_seconds')).toBe(120);
  });
});
