/** Jobs and pods of runs: how they are watched, and what a run is made of. */
import { KINDS, type Kind } from '#crds/catalogue/formats.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import type { Reflector, ReflectorOptions } from '#crds/kube/reflector.ts';
import { LABELS } from '#crds/contract/names.ts';
import { instanceSelector, type Installation } from '#crds/media-jobs/installation.ts';
import { boundRunState, standbyOf } from '#controller/bound-run-state.ts';
import { runStateOf, type PodTimes } from '#controller/run-state.ts';
import type { Run } from '#controller/runs.ts';
import type { StartMessage } from '#controller/start-events.ts';

export const JOB_OF_POD = 'batch.kubernetes.io/job-name';

/** Label selector of the controller's Jobs and pods. */
export const RUN_SELECTOR = LABELS.attempt;
export const jobsPath = (namespace: string): string => `/apis/batch/v1/namespaces/${namespace}/jobs`;
export const podsPath = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;

/** Starts reflectors of the Jobs of an installation and of their pods. */
export function reflectRuns(
  reflect: (options: Omit<ReflectorOptions, 'firstList'>) => Reflector,
  { namespace, instance }: Installation,
): Record<'jobs' | 'pods', Reflector> {
  const labelSelector = `${RUN_SELECTOR},${instanceSelector({ instance })}`;
  return {
    jobs: reflect({ path: jobsPath(namespace), labelSelector, indexBy: mediaJobOf, keep: trimJob }),
    pods: reflect({ path: podsPath(namespace), labelSelector, indexBy: jobOfPod, keep: trimPod }),
  };
}

/** Starts reflectors of the Jobs of an installation's standbys and of their pods. */
export function reflectStandbys(
  reflect: (options: Omit<ReflectorOptions, 'firstList'>) => Reflector,
  { namespace, instance }: Installation,
): Record<'jobs' | 'pods', Reflector> {
  const labelSelector = `${LABELS.standby},${instanceSelector({ instance })}`;
  return {
    jobs: reflect({ path: jobsPath(namespace), labelSelector, keep: trimJob }),
    pods: reflect({ path: podsPath(namespace), labelSelector, indexBy: jobOfPod, keep: trimPod }),
  };
}

export function mediaJobOf({ metadata }: KubeObject): string | undefined {
  return metadata.labels?.[LABELS.job];
}

export function accountOf({ metadata }: KubeObject): string {
  return metadata.labels?.[LABELS.account] ?? '';
}

/** Returns the kind of a run's file; null when it is unknown before the run. */
export function kindOf({ metadata }: KubeObject): Kind | null {
  return KINDS.find((kind) => kind === metadata.labels?.[LABELS.kind]) ?? null;
}

export function jobOfPod({ metadata }: KubeObject): string | undefined {
  return metadata.labels?.[JOB_OF_POD];
}

/** Returns the fields of a Job that `runStateOf` and this file read, without its large pod template. */
function trimJob({ metadata, status }: KubeObject): KubeObject {
  return { metadata, status };
}

/** Returns the fields of a pod that `runStateOf` and this file read. */
function trimPod({ metadata, spec, status }: KubeObject): KubeObject {
  const { nodeName } = (spec ?? {}) as { nodeName?: string };
  const { annotations: _, ...rest } = metadata;
  return { metadata: rest, spec: { nodeName }, status };
}

export function ownedBy(job: KubeObject, pods: readonly KubeObject[]): readonly KubeObject[] {
  return pods.filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === job.metadata.uid));
}

const EXCEEDED_QUOTA = /exceeded quota/;

/** Returns a waiting run with the message of Kubernetes about its Job or pod; the same run without one. */
export function explainedRun(
  run: Run,
  { hasPod, message }: { hasPod: boolean; message: StartMessage | undefined },
): Run {
  if (message === undefined || run.status.state !== 'waiting' || run.status.waitingFor !== null) return run;
  const { text, ...impossible } = message;
  if (hasPod) {
    const unprepared = `The node cannot prepare the pod: ${text}`;
    return { ...run, status: { state: 'waiting', waitingFor: { reason: 'not-started', message: unprepared } } };
  }
  const reason = EXCEEDED_QUOTA.test(text) ? 'quota' : 'refused';
  const refused = { reason, message: `Kubernetes refuses the pod: ${text}` } as const;
  return { ...run, status: { state: 'waiting', waitingFor: { ...refused, ...impossible } } };
}

export function asRun(job: KubeObject, own: readonly KubeObject[], times: PodTimes): Run {
  const { name, labels = {}, ownerReferences = [] } = job.metadata;
  return {
    name,
    owner: { name: labels[LABELS.job] ?? '', uid: ownerReferences[0]?.uid ?? '' },
    attempt: Number(labels[LABELS.attempt]),
    node: own.map((pod) => (pod['spec'] as { nodeName?: string }).nodeName).find((node) => node !== undefined) ?? null,
    status: standbyOf(job) === null ? runStateOf(job, own, times) : boundRunState(job, own, times),
  };
}
