import { describe, expect, it } from 'vitest';
import { LABELS } from '#crds/contract/names.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { asRun, explainedRun, JOB_OF_POD, jobOfPod, kindOf, ownedBy, reflectRuns } from '#controller/run-objects.ts';
import type { Reflector, ReflectorOptions } from '#crds/kube/reflector.ts';
import type { Run, RunState } from '#controller/runs.ts';

const CREATED = '2026-01-01T00:00:00Z';
const TIMES = { runningSince: () => new Date(CREATED), endedAt: () => new Date(CREATED) };

function buildObject(name: string, more: object = {}, metadata: object = {}): KubeObject {
  const own = { name, uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: CREATED, ...metadata };
  return { metadata: own, ...more };
}

const OWNER = { apiVersion: 'mediajobs.dev/v1', kind: 'MediaJob', name: 'job-1', uid: 'uid-media-job' };
const job = buildObject(
  'job-1-2',
  {},
  { labels: { [LABELS.job]: 'job-1', [LABELS.attempt]: '2', [LABELS.kind]: 'image' }, ownerReferences: [OWNER] },
);
const ownPod = buildObject(
  'pod',
  { spec: { nodeName: 'node-1' }, status: { phase: 'Pending' } },
  { labels: { [JOB_OF_POD]: 'job-1-2' }, ownerReferences: [{ ...OWNER, kind: 'Job', uid: 'uid-job-1-2' }] },
);

describe('asRun', () => {
  it('returns owner, attempt and node of a run from its Job and pods', () => {
    expect(asRun(job, [ownPod], TIMES)).toMatchObject({
      name: 'job-1-2',
      owner: { name: 'job-1', uid: 'uid-media-job' },
      attempt: 2,
      node: 'node-1',
      status: { state: 'waiting' },
    });
  });

  it('returns no node before a pod is scheduled', () => {
    expect(asRun(job, [], TIMES).node).toBeNull();
  });
});

describe('the objects of a run', () => {
  it('include only pods whose owner is the Job itself, not an earlier one with its name', () => {
    const stale = buildObject(
      'old',
      {},
      { ownerReferences: [{ ...OWNER, kind: 'Job', uid: 'uid-of-an-earlier-job' }] },
    );
    expect(ownedBy(job, [stale, ownPod, buildObject('bare')])).toEqual([ownPod]);
  });

  it('name the Job of a pod and the kind of the file', () => {
    expect(jobOfPod(ownPod)).toBe('job-1-2');
    expect(kindOf(job)).toBe('image');
    expect(kindOf(buildObject('x', {}, { labels: { [LABELS.kind]: 'unknown' } }))).toBeNull();
  });

  it('are kept without the fields that nobody reads', () => {
    const kept = new Map<string, ReflectorOptions['keep']>();
    const reflect = ({ path, keep }: Omit<ReflectorOptions, 'firstList'>): Reflector => {
      kept.set(path.split('/').at(-1) ?? '', keep);
      return {} as Reflector;
    };
    reflectRuns(reflect, { namespace: 'media', instance: 'one' });
    const pod = { ...ownPod, metadata: { ...ownPod.metadata, annotations: { large: 'x' } } };
    expect(kept.get('pods')?.(pod)).toEqual({ ...ownPod, spec: { nodeName: 'node-1' } });
    expect(kept.get('jobs')?.({ ...job, spec: { template: {} } })).toEqual({
      metadata: job.metadata,
      status: undefined,
    });
  });
});

describe('explainedRun', () => {
  const runIn = (status: RunState): Run => ({ ...asRun(job, [], TIMES), status });
  const waiting = runIn({ state: 'waiting', waitingFor: null });

  it('says that Kubernetes refuses the pod, which lasts until the installation is changed', () => {
    const message = { text: 'violates PodSecurity', impossibleSince: new Date(CREATED) };
    expect(explainedRun(waiting, { hasPod: false, message }).status).toEqual({
      state: 'waiting',
      waitingFor: {
        reason: 'refused',
        message: 'Kubernetes refuses the pod: violates PodSecurity',
        impossibleSince: new Date(CREATED),
      },
    });
  });

  it('lets a run wait that exceeds a quota', () => {
    const { status } = explainedRun(waiting, { hasPod: false, message: { text: 'exceeded quota: small' } });
    expect(status).toEqual({
      state: 'waiting',
      waitingFor: { reason: 'quota', message: 'Kubernetes refuses the pod: exceeded quota: small' },
    });
  });

  it('says that a volume of the pod is not mounted', () => {
    const { status } = explainedRun(waiting, { hasPod: true, message: { text: 'secret not found' } });
    expect(status).toMatchObject({
      waitingFor: { reason: 'not-started', message: expect.stringContaining('secret not found') },
    });
  });

  it('leaves a run without a message, one with a reason and an active one unchanged', () => {
    const full = runIn({ state: 'waiting', waitingFor: { reason: 'capacity', message: 'Full.' } });
    const active = runIn({ state: 'active', startedAt: new Date(CREATED), isOnReadyNode: true });
    expect(explainedRun(waiting, { hasPod: true, message: undefined })).toBe(waiting);
    for (const run of [full, active]) expect(explainedRun(run, { hasPod: true, message: { text: 'No.' } })).toBe(run);
  });
});
