/**
 * State of an attempt from its Job and pod. The pod's status takes precedence, because the Job controller updates the
 * Job later. Only the worker's container counts: clusters inject others beside it, which may run on after it. Pure.
 */
import type {
  V1ContainerState,
  V1ContainerStateTerminated,
  V1ContainerStatus,
  V1JobStatus,
  V1PodCondition,
  V1PodStatus,
} from '@kubernetes/client-node';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { parseRunOutcome } from '#crds/contract/run-spec.ts';
import { STOPPED_ANNOTATION } from '#controller/job-manifest.ts';
import { HEAP_FULL_EXIT_CODE } from '#controller/out-of-memory.ts';
import { STOPPED_RUN, type LostCause, type RunState, type WaitingFor } from '#controller/runs.ts';
import { WORKER_CONTAINER } from '#controller/worker-template.ts';

/** Times of a pod by the clock of this process: that of a node may be wrong. */
export interface PodTimes {
  /** Returns the time at which this process first saw the worker run. */
  runningSince(pod: KubeObject): Date;
  /** Returns the time at which this process first saw the worker's end. */
  endedAt(pod: KubeObject): Date;
}

/** Returns the state of a run. `pods`: all pods of the Job in any order, of which at most one has run. */
export function runStateOf(job: KubeObject, pods: readonly KubeObject[], times: PodTimes): RunState {
  const [pod] = pods.toSorted((a, b) => rank(b) - rank(a));
  const end = pod === undefined ? null : endOf(pod, times);
  if (end?.state === 'ended') return end;
  if (job.metadata.annotations?.[STOPPED_ANNOTATION] !== undefined) return STOPPED_RUN;
  if (end !== null) return end;
  if (pod === undefined) return withoutPod(job);
  const { running } = stateOf(pod);
  if (running === undefined) return waiting(pod);
  return { state: 'active', startedAt: times.runningSince(pod), isOnReadyNode: isOnReadyNode(pod) };
}

/** Returns whether a container runs in a pod that has not ended: the worker, or one that was injected beside it. */
export function occupiesNode(pod: KubeObject): boolean {
  const { phase, containerStatuses = [] } = podStatus(pod);
  if (phase === 'Succeeded' || phase === 'Failed') return false;
  return containerStatuses.some(({ state }) => state?.running !== undefined);
}

/** Returns whether the worker's container runs. */
export function isWorkerRunning(pod: KubeObject): boolean {
  return stateOf(pod).running !== undefined;
}

/** Returns the exit code of the worker; null while it has not ended. */
export function exitCodeOf(pod: KubeObject): number | null {
  return stateOf(pod).terminated?.exitCode ?? null;
}

/** Times in it are texts: the objects are raw JSON, although the library's types have Date. */
type ContainerState = Pick<V1ContainerState, 'running' | 'terminated' | 'waiting'>;

/** Reason of containerd for a container that its node could not start: the worker has not run. */
const START_ERROR = 'StartError';
const IMAGE_REASONS: ReadonlySet<string> = new Set([
  'ImagePullBackOff',
  'ErrImagePull',
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImageInspectError',
]);

const START_FAILURES: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

function rank(pod: KubeObject): number {
  if (stateOf(pod).terminated !== undefined) return 2;
  return stateOf(pod).running === undefined ? 0 : 1;
}

function podStatus(pod: KubeObject): V1PodStatus {
  return pod['status'] ?? {};
}

function workerOf(pod: KubeObject): V1ContainerStatus | undefined {
  return podStatus(pod).containerStatuses?.find(({ name }) => name === WORKER_CONTAINER);
}

function stateOf(pod: KubeObject): ContainerState {
  return workerOf(pod)?.state ?? {};
}

/**
 * Returns whether the pod's node reports to the API server. Kubernetes sets the pod's condition Ready to False when the
 * node stops reporting; ContainersReady is set by the node itself.
 */
function isOnReadyNode(pod: KubeObject): boolean {
  const { conditions = [] } = podStatus(pod);
  const is = (type: string) => conditions.find((condition) => condition.type === type)?.status;
  return is('Ready') !== 'False' || is('ContainersReady') === 'False';
}

/** Returns the start of an ended worker: its duration by the node's clock, before its end by ours. */
function startOf(pod: KubeObject, times: PodTimes): Date {
  const { terminated } = stateOf(pod);
  const endedAt = times.endedAt(pod).getTime();
  const duration = Date.parse(String(terminated?.finishedAt)) - Date.parse(String(terminated?.startedAt));
  return new Date(endedAt - (Number.isFinite(duration) ? Math.max(0, duration) : 0));
}

/** Returns the final state of a pod; null when it has not ended. */
function endOf(pod: KubeObject, times: PodTimes): RunState | null {
  const { terminated } = stateOf(pod);
  if (terminated === undefined) return podStatus(pod).phase === 'Failed' ? neverStarted(pod) : null;
  const outcome = parseRunOutcome(terminated.message ?? '');
  if (outcome !== null) return { state: 'ended', startedAt: startOf(pod, times), outcome };
  return { state: 'lost', ...lossOf(pod, terminated) };
}

/** Returns why the worker has ended without an outcome. */
function lossOf(pod: KubeObject, end: V1ContainerStateTerminated): { cause: LostCause; message: string } {
  const how = `its pod ended with exit code ${end.exitCode}`;
  if (end.reason === 'OOMKilled' || end.exitCode === HEAP_FULL_EXIT_CODE)
    return { cause: 'out_of_memory', message: `${how}, out of memory` };
  if (end.reason === START_ERROR)
    return { cause: 'evicted', message: `its container did not start: ${end.message ?? how}` };
  const disruption = conditionOf(pod, 'DisruptionTarget');
  if (disruption !== undefined) return { cause: 'evicted', message: `${how}: ${disruption.message ?? 'evicted'}` };
  if (pod.metadata.deletionTimestamp !== undefined) return { cause: 'vanished', message: 'its pod was deleted' };
  return { cause: 'crashed', message: `${how} and without an outcome` };
}

function neverStarted(pod: KubeObject): RunState {
  const { message, reason } = podStatus(pod);
  const why = conditionOf(pod, 'DisruptionTarget')?.message ?? message ?? reason ?? 'evicted';
  return { state: 'lost', cause: 'evicted', message: `its pod failed before it started: ${why}` };
}

function conditionOf(pod: KubeObject, type: string): V1PodCondition | undefined {
  return podStatus(pod).conditions?.find(
    (condition) => condition.type === type && condition.status === (type === 'PodScheduled' ? 'False' : 'True'),
  );
}

function withoutPod(job: KubeObject): RunState {
  const { conditions = [] } = (job['status'] ?? {}) as V1JobStatus;
  const is = (type: string) => conditions.find((condition) => condition.type === type && condition.status === 'True');
  const failed = is('Failed') ?? is('FailureTarget');
  if (failed !== undefined)
    return {
      state: 'lost',
      cause: 'vanished',
      message: `its pod no longer exists (${failed.message ?? failed.reason ?? 'deleted'})`,
    };
  if (is('Complete') !== undefined)
    return { state: 'lost', cause: 'vanished', message: 'its pod no longer exists and left no outcome' };
  const suspended =
    is('Suspended') === undefined
      ? null
      : { reason: 'capacity' as const, message: 'The queue has not admitted the job.' };
  return { state: 'waiting', waitingFor: suspended };
}

function waiting(pod: KubeObject): RunState {
  return { state: 'waiting', waitingFor: notStarted(pod) ?? unscheduled(pod) };
}

/** Returns why the node does not start the worker's container; null when nothing is wrong. */
function notStarted(pod: KubeObject): WaitingFor | null {
  const { waiting: why } = stateOf(pod);
  if (why?.reason === undefined) return null;
  if (IMAGE_REASONS.has(why.reason)) {
    const image = workerOf(pod)?.image ?? '';
    return { reason: 'image', message: `The image ${image} cannot be pulled: ${why.message ?? why.reason}` };
  }
  if (!START_FAILURES.has(why.reason)) return null;
  const message = `The worker's container does not start (${why.reason}): ${why.message ?? 'no message'}`;
  return { reason: 'not-started', message };
}

/** Returns why no node takes the pod; null when one has. */
function unscheduled(pod: KubeObject): WaitingFor | null {
  const condition = conditionOf(pod, 'PodScheduled');
  if (condition === undefined) return null;
  return { reason: 'capacity', message: `The pod cannot be scheduled: ${condition.message ?? condition.reason}` };
}
