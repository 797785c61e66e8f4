/**
 * Manifest of the Kubernetes Job of one attempt. The Job never retries and is owned by the MediaJob, so it is deleted
 * with it. The secret part of the RunSpec is mounted from the MediaJob's Secret, the rest is in the environment. Pure.
 */
import { API_GROUP, CRD_VERSION, KIND, LABELS } from '#crds/contract/names.ts';
import { BETWEEN_FILES, RUN_SPEC, RUN_SPEC_FILE } from '#crds/contract/run-files.ts';
import type { OpenRunSpec } from '#crds/contract/run-spec.ts';
import { attemptKey, INPUT_KEY } from '#crds/media-jobs/ticket-secret.ts';
import { runName, type RunOwner, type RunRequest } from '#controller/runs.ts';
import { placementOf, type WorkerPod } from '#controller/worker-pod.ts';
import { buildWorkerTemplate, MOUNT_FOLDER } from '#controller/worker-template.ts';

/** Annotation of a Job that the controller stopped. Its pods are deleted; the Job remains as the attempt's record. */
export const STOPPED_ANNOTATION = 'mediajobs.dev/stopped';
/** Annotation of an attempt's Job with the name of the standby in which the attempt runs: the Job has no pod then. */
export const RUNS_IN_ANNOTATION = 'mediajobs.dev/runs-in';

/** Time after which the pod ends itself if no controller has ended it, in seconds after the run's timeout. */
export const BACKSTOP_SECONDS = 900;
/** Time to live of a finished Job, in seconds. Usually its MediaJob is deleted earlier, which deletes the Job. */
export const KEEP_SECONDS = 86_400;

export const COMPONENT = { 'app.kubernetes.io/name': 'mediajobs', 'app.kubernetes.io/component': 'worker' };
const RUN_JOB = 'run-job';
/** Annotations by which the cluster autoscaler and Karpenter do not evict a pod to save nodes. */
const KEEP_RUNNING = {
  'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
  'karpenter.sh/do-not-disrupt': 'true',
};

/** Returns the manifest of an attempt's Job. `standby`: the attempt runs in that one, and this Job stays without a pod. */
export function buildJob(settings: WorkerPod, request: RunRequest, standby?: string): object {
  const { queueName } = placementOf(settings, request.kind);
  const metadata = metadataOf(request);
  const labels = { ...settings.labels, ...metadata.labels };
  const queue = queueName === undefined ? {} : { 'kueue.x-k8s.io/queue-name': queueName };
  const runsIn = standby === undefined ? {} : { annotations: { [RUNS_IN_ANNOTATION]: standby } };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { ...metadata, labels: { ...labels, ...queue }, ...runsIn },
    spec: {
      backoffLimit: 0,
      completions: 1,
      parallelism: 1,
      suspend: queueName !== undefined || standby !== undefined,
      ttlSecondsAfterFinished: KEEP_SECONDS,
      template: buildWorkerTemplate(settings, {
        labels,
        annotations: KEEP_RUNNING,
        kind: request.kind,
        inputSize: request.spec.input.size,
        deadlineSeconds: request.spec.timeoutSeconds + BACKSTOP_SECONDS,
        script: RUN_JOB,
        environment: environmentOf(request),
        mounted: mountedSecret(request),
      }),
    },
  };
}

/** Returns the reference to the MediaJob that owns a Job. */
export function ownerReference({ name, uid }: RunOwner): object {
  return { apiVersion: `${API_GROUP}/${CRD_VERSION}`, kind: KIND, name, uid, controller: true };
}

function metadataOf({ owner, attempt, account, kind }: RunRequest) {
  return {
    name: runName(owner.name, attempt),
    labels: {
      ...COMPONENT,
      [LABELS.job]: owner.name,
      [LABELS.account]: account,
      [LABELS.attempt]: String(attempt),
      [LABELS.kind]: kind ?? 'unknown',
    },
    ownerReferences: [ownerReference(owner)],
  };
}

function environmentOf(request: RunRequest): Record<string, string> {
  const files = secretKeys(request).map((key) => `${MOUNT_FOLDER}/${key}`);
  return { [RUN_SPEC]: asEnvironment(request.spec), [RUN_SPEC_FILE]: files.join(BETWEEN_FILES) };
}

function mountedSecret(request: RunRequest): object {
  const items = secretKeys(request).map((key) => ({ key, path: key }));
  return { secret: { secretName: request.secretName, defaultMode: 0o440, items } };
}

function secretKeys({ attempt }: RunRequest): readonly string[] {
  return [INPUT_KEY, attemptKey(attempt)];
}

/** Returns the spec as JSON without `$`: a kubelet expands `$(NAME)` in environment variables. */
function asEnvironment(spec: OpenRunSpec): string {
  return JSON.stringify(spec).replaceAll('$', String.raw`\u0024`);
}
