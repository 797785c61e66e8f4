import { beforeEach, describe, expect, it } from 'vitest';
import { apply } from '#controller/apply.ts';
import { gatherFacts } from '#controller/gather-facts.ts';
import type { Decision } from '#controller/decision.ts';
import { makeReconciledJob, NAME, type ReconciledJob } from '#test/support/reconciled-job.ts';

const RUN = `${NAME}-a1`;

describe('apply', () => {
  let job: ReconciledJob;

  beforeEach(() => {
    job = makeReconciledJob();
  });

  const applied = async (decision: Decision) => apply(job.deps, await gatherFacts(job.deps, NAME), decision);

  it('requeues for the end of a wait without writing a status', async () => {
    await job.create();
    const until = new Date('2026-01-01T00:10:00Z');
    expect(await applied({ action: 'wait', until })).toEqual({ result: 'unchanged', requeueAt: until });
    expect(await job.status()).toBeUndefined();
  });

  it('throws when the decision requires a MediaJob that is deleted', async () => {
    await expect(applied({ action: 'suspend' })).rejects.toThrow(`${NAME} is deleted`);
  });

  it('releases runs, heartbeats and the time of the last percentage', async () => {
    await job.create();
    await job.step();
    job.beat(1, 5);
    await job.step();
    expect(job.deps.percentWrites.has(NAME)).toBe(true);
    expect(await applied({ action: 'release' })).toEqual({ result: 'released', requeueAt: null });
    expect(job.deps.percentWrites.has(NAME)).toBe(false);
    expect(job.runs.stopped).toEqual([RUN]);
    expect(await job.runs.list()).toEqual([]);
  });
});
