import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { STOPPED_ANNOTATION } from '#controller/job-manifest.ts';
import { runStateOf } from '#controller/run-state.ts';
import { buildReport } from '#test/support/build-media-job.ts';

const AT = '2026-01-01T00:00:05Z';
const SEEN = new Date('2026-01-01T00:01:00Z');
const times = { runningSince: () => SEEN, endedAt: () => SEEN };
const OUTCOME = { outcome: 'succeeded', report: buildReport() };

function buildObject(name: string, status: object, metadata: object = {}): KubeObject {
  return {
    metadata: { name, uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: AT, ...metadata },
    status,
  };
}

function buildPod(state: object, status: object = {}, metadata: object = {}): KubeObject {
  return buildObject(
    'pod',
    { phase: 'Running', containerStatuses: [{ name: 'worker', image: 'worker:1', state }], ...status },
    metadata,
  );
}

const terminated = (exitCode: number, changes: object = {}): KubeObject =>
  buildPod(
    { terminated: { exitCode, reason: 'Error', startedAt: AT, finishedAt: AT, ...changes } },
    { phase: 'Failed' },
  );
const job = buildObject('job', {});
const failedJob = buildObject('job', {
  conditions: [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded', message: 'Job has failed' }],
});
const stoppedJob = buildObject('job', {}, { annotations: { [STOPPED_ANNOTATION]: 'true' } });
const disrupted = { conditions: [{ type: 'DisruptionTarget', status: 'True', message: 'The node was low on memory' }] };
const unscheduled = {
  phase: 'Pending',
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes are available' }],
};

describe('runStateOf', () => {
  it.each<[string, KubeObject, KubeObject[], object]>([
    ['no pod yet', job, [], { state: 'waiting', waitingFor: null }],
    [
      'suspended by a queue',
      buildObject('job', { conditions: [{ type: 'Suspended', status: 'True' }] }),
      [],
      { state: 'waiting', waitingFor: { reason: 'capacity', message: 'The queue has not admitted the job.' } },
    ],
    [
      'no node takes the pod',
      job,
      [buildObject('pod', unscheduled)],
      {
        state: 'waiting',
        waitingFor: { reason: 'capacity', message: 'The pod cannot be scheduled: 0/3 nodes are available' },
      },
    ],
    [
      'the image cannot be pulled',
      job,
      [buildPod({ waiting: { reason: 'ImagePullBackOff', message: 'not found' } }, { phase: 'Pending' })],
      { state: 'waiting', waitingFor: { reason: 'image', message: 'The image worker:1 cannot be pulled: not found' } },
    ],
    [
      'the container cannot be created',
      job,
      [
        buildPod(
          { waiting: { reason: 'CreateContainerConfigError', message: 'secret "x" not found' } },
          { phase: 'Pending' },
        ),
      ],
      {
        state: 'waiting',
        waitingFor: {
          reason: 'not-started',
          message: 'The worker\'s container does not start (CreateContainerConfigError): secret "x" not found',
        },
      },
    ],
    [
      'the container is being created',
      job,
      [buildPod({ waiting: { reason: 'ContainerCreating' } }, { phase: 'Pending' })],
      { state: 'waiting', waitingFor: null },
    ],
    ['running', job, [buildPod({ running: { startedAt: AT } })], { state: 'active', startedAt: SEEN }],
    [
      'an outcome, before the Job knows',
      job,
      [terminated(0, { message: JSON.stringify(OUTCOME) })],
      { state: 'ended', startedAt: SEEN, outcome: OUTCOME },
    ],
    [
      'an outcome of a pod that was being evicted',
      failedJob,
      [buildPod({ terminated: { exitCode: 0, startedAt: AT, message: JSON.stringify(OUTCOME) } }, disrupted)],
      { state: 'ended', outcome: OUTCOME },
    ],
    [
      'an outcome that was stopped too late',
      stoppedJob,
      [terminated(0, { message: JSON.stringify(OUTCOME) })],
      { state: 'ended' },
    ],
    ['stopped', stoppedJob, [buildPod({ running: { startedAt: AT } })], { state: 'lost', cause: 'stopped' }],
    ['stopped, and the pod is missing', stoppedJob, [], { state: 'lost', cause: 'stopped' }],
    ['half an outcome', job, [terminated(0, { message: '{"outcome"' })], { state: 'lost', cause: 'crashed' }],
    [
      'out of memory, by the kernel',
      job,
      [terminated(137, { reason: 'OOMKilled' })],
      { state: 'lost', cause: 'out_of_memory' },
    ],
    ['out of memory, by Node', job, [terminated(134)], { state: 'lost', cause: 'out_of_memory' }],
    [
      'a node that could not start its container',
      job,
      [
        terminated(128, {
          reason: 'StartError',
          message: 'failed to create containerd task: context deadline exceeded',
        }),
      ],
      {
        state: 'lost',
        cause: 'evicted',
        message: 'its container did not start: failed to create containerd task: context deadline exceeded',
      },
    ],
    ['killed by a person', job, [terminated(137)], { state: 'lost', cause: 'crashed' }],
    [
      'evicted',
      failedJob,
      [buildPod({ terminated: { exitCode: 143, startedAt: AT } }, { phase: 'Failed', ...disrupted })],
      { state: 'lost', cause: 'evicted', message: 'its pod ended with exit code 143: The node was low on memory' },
    ],
    [
      'evicted before it started',
      failedJob,
      [buildObject('pod', { phase: 'Failed', reason: 'Evicted', message: 'The node was low on disk' })],
      { state: 'lost', cause: 'evicted', message: 'its pod failed before it started: The node was low on disk' },
    ],
    [
      'the pod is being deleted',
      job,
      [buildPod({ terminated: { exitCode: 143, startedAt: AT } }, { phase: 'Failed' }, { deletionTimestamp: AT })],
      { state: 'lost', cause: 'vanished', message: 'its pod was deleted' },
    ],
    [
      'the pod of a failed Job is missing',
      failedJob,
      [],
      { state: 'lost', cause: 'vanished', message: 'its pod no longer exists (Job has failed)' },
    ],
    [
      'the pod of a complete Job is missing',
      buildObject('job', { conditions: [{ type: 'Complete', status: 'True' }] }),
      [],
      { state: 'lost', cause: 'vanished' },
    ],
  ])('%s', (_what, theJob, pods, state) => {
    expect(runStateOf(theJob, pods, times)).toMatchObject(state);
  });

  it('uses the pod that has run when there are two', () => {
    const waiting = buildPod({ waiting: { reason: 'ContainerCreating' } });
    const ended = terminated(0, { message: JSON.stringify(OUTCOME) });
    expect(runStateOf(job, [waiting, ended], times)).toMatchObject({ state: 'ended' });
  });

  const sidecar = { name: 'istio-proxy', image: 'proxy:1', state: { running: { startedAt: AT } } };
  const withSidecar = (state: object): KubeObject =>
    buildObject('pod', {
      phase: 'Running',
      containerStatuses: [sidecar, { name: 'worker', image: 'worker:1', state }],
    });

  it('ignores containers that the cluster injects before and after the worker', () => {
    const end = { exitCode: 0, startedAt: AT, finishedAt: AT, message: JSON.stringify(OUTCOME) };
    expect(runStateOf(job, [withSidecar({ terminated: end })], times)).toMatchObject({ state: 'ended' });
    const creating = withSidecar({ waiting: { reason: 'ContainerCreating' } });
    expect(runStateOf(job, [creating], times)).toEqual({ state: 'waiting', waitingFor: null });
    expect(runStateOf(job, [withSidecar({ terminated: { exitCode: 137, startedAt: AT } })], times)).toMatchObject({
      state: 'lost',
      cause: 'crashed',
    });
  });

  it('takes times from its own clock, and only durations from that of the node', () => {
    const node = { startedAt: '2025-12-31T23:00:00Z', finishedAt: '2025-12-31T23:00:40Z' };
    const ended = terminated(0, { ...node, message: JSON.stringify(OUTCOME) });
    expect(runStateOf(job, [ended], times)).toMatchObject({ startedAt: new Date('2026-01-01T00:00:20Z') });
    const running = buildPod({ running: { startedAt: node.startedAt } });
    expect(runStateOf(job, [running], times)).toMatchObject({ startedAt: SEEN });
  });

  it.each([
    ['reports', [], true],
    ['reports an injected container that is not ready', ['Ready', 'ContainersReady'], true],
    ['no longer reports', ['Ready'], false],
  ])('returns whether the node of a running pod %s', (_what, notReady, isOnReadyNode) => {
    const conditions = ['Ready', 'ContainersReady'].map((type) => ({
      type,
      status: notReady.includes(type) ? 'False' : 'True',
    }));
    const pod = buildPod({ running: { startedAt: AT } }, { conditions });
    expect(runStateOf(job, [pod], times)).toMatchObject({ state: 'active', isOnReadyNode });
  });
});
