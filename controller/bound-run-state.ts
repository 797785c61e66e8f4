/** State of an attempt that runs in a standby, from the attempt's own Job and the standby's pods. Pure. */
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { RUNS_IN_ANNOTATION, STOPPED_ANNOTATION } from '#controller/job-manifest.ts';
import { exitCodeOf, runStateOf, type PodTimes } from '#controller/run-state.ts';
import type { RunState } from '#controller/runs.ts';

/** Returns the name of the standby in which the attempt of a Job runs; null: the Job has a pod of its own. */
export function standbyOf({ metadata }: KubeObject): string | null {
  return metadata.annotations?.[RUNS_IN_ANNOTATION] ?? null;
}

/**
 * Returns the state of the run. A standby that no longer exists, or has ended without the run, is lost like an evicted
 * pod: that says nothing about the file.
 */
export function boundRunState(job: KubeObject, pods: readonly KubeObject[], times: PodTimes): RunState {
  const status = runStateOf(job, pods, times);
  const isStopped = job.metadata.annotations?.[STOPPED_ANNOTATION] !== undefined;
  if (pods.length === 0 && !isStopped)
    return { state: 'lost', cause: 'evicted', message: 'the pod of its standby no longer exists' };
  if (status.state === 'lost' && status.cause === 'crashed' && pods.every((pod) => exitCodeOf(pod) === 0))
    return { state: 'lost', cause: 'evicted', message: 'its standby ended before it received the attempt' };
  if (status.state !== 'ended') return status;
  // The pod has waited longer than the job exists.
  const created = new Date(job.metadata.creationTimestamp);
  return { ...status, startedAt: status.startedAt < created ? created : status.startedAt };
}
