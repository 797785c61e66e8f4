import { describe, expect, it } from 'vitest';
import { boundRunState, standbyOf } from '#controller/bound-run-state.ts';
import { RUNS_IN_ANNOTATION, STOPPED_ANNOTATION } from '#controller/job-manifest.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { buildReport } from '#test/support/build-media-job.ts';

const CREATED = '2026-01-01T00:10:00Z';
const SEEN = new Date('2026-01-01T00:10:05Z');
const TIMES = { runningSince: () => SEEN, endedAt: () => SEEN };

function job(annotations: Record<string, string> = {}): KubeObject {
  const metadata = { name: 'job-1-a1', uid: 'u', resourceVersion: '1', creationTimestamp: CREATED };
  const suspended = { conditions: [{ type: 'Suspended', status: 'True' }] };
  return { metadata: { ...metadata, annotations: { [RUNS_IN_ANNOTATION]: 's-1', ...annotations } }, status: suspended };
}

function pod(state: object, more: object = {}): KubeObject {
  const metadata = {
    name: 's-1-x',
    uid: 'p',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    ...more,
  };
  return { metadata, status: { phase: 'Running', containerStatuses: [{ name: 'worker', state }] } };
}

const ended = (exitCode: number, message = ''): KubeObject =>
  pod({ terminated: { exitCode, message, startedAt: '2026-01-01T00:00:00Z', finishedAt: CREATED } });

describe('boundRunState', () => {
  it('is active while the worker of the standby runs, although the Job is suspended', () => {
    expect(standbyOf(job())).toBe('s-1');
    expect(boundRunState(job(), [pod({ running: {} })], TIMES)).toEqual({
      state: 'active',
      startedAt: SEEN,
      isOnReadyNode: true,
    });
  });

  it('ends with the outcome, and began when the attempt did and not when the standby did', () => {
    const outcome = { outcome: 'succeeded', report: buildReport() };
    expect(boundRunState(job(), [ended(0, JSON.stringify(outcome))], TIMES)).toEqual({
      state: 'ended',
      startedAt: new Date(CREATED),
      outcome,
    });
  });

  it('is lost as by an eviction when the standby is missing or ended without the attempt', () => {
    expect(boundRunState(job(), [], TIMES)).toMatchObject({ state: 'lost', cause: 'evicted' });
    expect(boundRunState(job(), [ended(0)], TIMES)).toMatchObject({ state: 'lost', cause: 'evicted' });
  });

  it('is lost as any other attempt when the worker failed at its file', () => {
    expect(boundRunState(job(), [ended(1)], TIMES)).toMatchObject({ state: 'lost', cause: 'crashed' });
    expect(boundRunState(job(), [ended(134)], TIMES)).toMatchObject({ state: 'lost', cause: 'out_of_memory' });
  });

  it('is lost as stopped after a stop, also without a pod', () => {
    const stopped = job({ [STOPPED_ANNOTATION]: 'true' });
    expect(boundRunState(stopped, [], TIMES)).toMatchObject({ state: 'lost', cause: 'stopped' });
    expect(boundRunState(stopped, [pod({ running: {} })], TIMES)).toMatchObject({ state: 'lost', cause: 'stopped' });
  });
});
