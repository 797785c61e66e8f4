/** Names on Kubernetes objects: group and kind, labels, phases and reasons. */

export const API_GROUP = 'mediajobs.dev';
export const CRD_NAME = 'mediajobs.mediajobs.dev';
export const CRD_VERSION = 'v1';

export const KIND = 'MediaJob';
export const PLURAL = 'mediajobs';

export const LABELS = {
  account: 'mediajobs.dev/account',
  job: 'mediajobs.dev/job',
  attempt: 'mediajobs.dev/attempt',
  dispatch: 'mediajobs.dev/dispatch',
  /** Kind of the file by its name, or `unknown`. */
  kind: 'mediajobs.dev/kind',
  /** Kind of a standby: a pod that waits for a small job of that kind, and its Job. */
  standby: 'mediajobs.dev/standby',
  /** Installation that made an object. Several may share a namespace. */
  instance: 'app.kubernetes.io/instance',
} as const;

export const ANNOTATIONS = {
  /** Context of the span of a MediaJob's dispatch, for the spans of its attempts. */
  traceparent: 'mediajobs.dev/traceparent',
} as const;

/**
 * Annotations by which Argo CD neither deletes an object nor counts it as a difference. It takes objects that have the labels
 * of a release, and no owner, for a part of the application.
 */
export const UNTRACKED = {
  'argocd.argoproj.io/sync-options': 'Prune=false',
  'argocd.argoproj.io/compare-options': 'IgnoreExtraneous',
} as const;

/** Phases of a MediaJob; the last two are final. */
export const PHASES = ['Pending', 'Running', 'Succeeded', 'Failed'] as const;
export type Phase = (typeof PHASES)[number];

export const REASONS = [
  'Suspended',
  'WaitingForCapacity',
  'ImageNotPulled',
  'PodRefused',
  'PodNotStarted',
  'Running',
  'HeartbeatsMissing',
  'Succeeded',
  'AttemptLost',
  'WaitTimeout',
  'StartImpossible',
  'RunTimeout',
  'AttemptsExhausted',
  'OutOfMemory',
  'FileRefused',
  'EngineFault',
] as const;
export type Reason = (typeof REASONS)[number];

/** Returns the name of a job's MediaJob: `job-x` for `job_x`. It is unique, because ids have one underscore. */
export function mediaJobName(jobId: string): string {
  return jobId.replace('_', '-');
}

/** Returns the job id of a MediaJob's name: `job_x` for `job-x`. */
export function jobIdOfName(name: string): string {
  return name.replace('-', '_');
}
