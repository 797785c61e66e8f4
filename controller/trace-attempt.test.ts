import { beforeEach, describe, expect, it } from 'vitest';
import type { RunOutcome } from '#crds/contract/run-spec.ts';
import { ANNOTATIONS } from '#crds/contract/names.ts';
import { makeLog } from '#crds/process/log.ts';
import { startTracing } from '#crds/process/start-tracing.ts';
import { buildNewMediaJob, buildReport } from '#test/support/build-media-job.ts';
import { startOtlpReceiver, treeOf, type ReceivedSpan } from '#test/support/otlp-receiver.ts';
import { JOB, makeReconciledJob, NAME, type ReconciledJob } from '#test/support/reconciled-job.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const DISPATCH = 'b7ad6b7169203331';
const START = Date.parse('2026-01-01T00:00:00Z');
const PHASES = [
  { phase: 'fetch', startMs: 100, endMs: 300 },
  { phase: 'process', startMs: 300, endMs: 1500 },
  { phase: 'upload', startMs: 1500, endMs: 1600 },
] as const;
const SUCCESS: RunOutcome = {
  outcome: 'succeeded',
  report: buildReport(),
  phases: [...PHASES],
};
const FAILURE: RunOutcome = {
  outcome: 'failed',
  error: { code: 'processing_failed', message: 'secret.mp4 is broken' },
  phases: PHASES.slice(0, 2),
};

let job: ReconciledJob;
let close: () => Promise<readonly ReceivedSpan[]>;

/** Makes the MediaJob of a traced job; `flags` 00: the caller does not want it recorded. */
async function createTraced(flags = '01'): Promise<void> {
  const annotations = { [ANNOTATIONS.traceparent]: `00-${TRACE}-${DISPATCH}-${flags}` };
  await job.mediaJobs.create({ ...buildNewMediaJob(), annotations });
}

async function start(attempt: number): Promise<void> {
  await job.step();
  job.beat(attempt, 5);
  await job.step();
}

beforeEach(async () => {
  const receiver = await startOtlpReceiver();
  const config = { MEDIAJOBS_TRACES_URL: receiver.url, MEDIAJOBS_TRACES_SHARE: 1 };
  const tracing = await startTracing({ log: makeLog('test', 'silent') }, 'controller', config);
  job = makeReconciledJob(tracing);
  close = async () => {
    await tracing?.close();
    return receiver.spans();
  };
});

describe('the spans of an attempt', () => {
  it('are that of the run below its dispatch, and the phases at the times after the first heartbeat', async () => {
    await createTraced();
    await job.step();
    job.seconds = 2;
    job.beat(1, 5);
    await job.step();
    job.seconds = 5;
    job.runs.end(`${NAME}-a1`, SUCCESS);
    expect(await job.step()).toBe('succeeded');
    const spans = await close();
    const firstBeat = START + 2000;
    expect(treeOf(spans, TRACE)).toEqual(['job attempt', '  attempt fetch', '  attempt process', '  attempt upload']);
    const attempt = spans.find(({ name }) => name === 'job attempt');
    expect(attempt).toMatchObject({
      parentId: DISPATCH,
      kind: 'CONSUMER',
      endedAt: START + 5000,
      isError: false,
      attributes: { 'mediajobs.job.id': JOB, 'mediajobs.attempt': 1, 'host.name': 'node-1' },
    });
    const phases = spans.filter(({ name }) => name.startsWith('attempt '));
    expect(phases.map(({ startedAt, endedAt }) => [startedAt - firstBeat, endedAt - firstBeat])).toEqual(
      PHASES.map(({ startMs, endMs }) => [startMs, endMs]),
    );
  });

  it('have the error of a file at the phase that failed, without its message', async () => {
    await createTraced();
    await start(1);
    job.seconds = 5;
    job.runs.end(`${NAME}-a1`, FAILURE);
    expect(await job.step()).toBe('failed');
    const spans = await close();
    const errors = spans.map(({ name, isError, attributes }) => [name, isError, attributes['error.type']]);
    expect(errors.toSorted()).toEqual([
      ['attempt fetch', false, undefined],
      ['attempt process', true, 'processing_failed'],
      ['job attempt', true, 'processing_failed'],
    ]);
    expect(JSON.stringify(spans)).not.toContain('secret');
  });

  it('are one with the cause for each lost attempt, also for the last one', async () => {
    await createTraced();
    for (const attempt of [1, 2, 3]) {
      await start(attempt);
      job.runs.lose(`${NAME}-a${attempt}`, 'crashed');
      expect(await job.step()).toBe('attempt_lost');
    }
    expect(await job.step()).toBe('failed');
    const spans = await close();
    expect(spans.map(({ attributes }) => attributes['mediajobs.attempt'])).toEqual([1, 2, 3]);
    for (const span of spans)
      expect(span).toMatchObject({ name: 'job attempt', isError: true, attributes: { 'error.type': 'crashed' } });
  });

  it('are none for a job that waited in vain', async () => {
    job.runs.slots = 0;
    await createTraced();
    await job.step();
    job.seconds = 1801;
    expect(await job.step()).toBe('failed');
    expect(await close()).toEqual([]);
  });

  it('are none for a caller who wants none, and its worker is not asked for times', async () => {
    await createTraced('00');
    await start(1);
    expect(job.runs.started[0]?.spec).not.toHaveProperty('isTraced');
    job.runs.end(`${NAME}-a1`, SUCCESS);
    await job.step();
    expect(await close()).toEqual([]);
  });
});

it('a worker is asked for the times of its phases when its job is traced', async () => {
  await createTraced();
  await job.step();
  expect(job.runs.started[0]?.spec).toMatchObject({ isTraced: true });
  await close();
});
