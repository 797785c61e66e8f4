/**
 * Manifest of the Kubernetes Job of one attempt. The Job never retries and is owned by the MediaJob, so it is deleted
 * with it. The secret part of the RunSpec is mounted from the MediaJob's Secret, the rest is in the environment. Pure.
 */
import { API_GROUP, API_VERSION, KIND, LABELS } from '#crds/contract/names.ts';
import { BETWEEN_FILES, RUN_SPEC, RUN_SPEC_FILE, TERMINATION_FILE, type OpenRunSpec } from '#crds/contract/run-spec.ts';
import { attemptKey, INPUT_KEY } from '#crds/media-jobs/ticket-secret.ts';
import { runName, type RunRequest } from '#controller/runs.ts';
import { patchPod } from '#controller/patch-pod.ts';
import { placementOf, resourcesOf, type Placement, type Resources, type WorkerPod } from '#controller/worker-pod.ts';

/** Annotation of a Job that the controller stopped. Its pods are deleted; the Job remains as the attempt's record. */
export const STOPPED_ANNOTATION = 'mediajobs.dev/stopped';
export const WORKER_CONTAINER = 'worker';

const COMPONENT = { 'app.kubernetes.io/name': 'mediajobs', 'app.kubernetes.io/component': 'worker' };
/** The worker image's bundle of `worker-image/run-job.ts` (hack/bundle.ts). */
const RUN_JOB = '.code-cache/bundle/worker-image/run-job.mjs';
const SPEC_FOLDER = '/run/mediajobs';
const WORK_FOLDER = '/work';
const TRUSTED_CA = 'trusted-ca';
const TRUSTED_CA_FOLDER = '/etc/mediajobs/trusted-ca';
const TRUSTED_CA_FILE = 'ca.pem';
const TERMINATION_PATH = '/dev/termination-log';
const GRACE_SECONDS = 10;
/** Time after which the pod ends itself if no controller has ended it, in seconds after the run's timeout. */
const BACKSTOP_SECONDS = 900;
/** Annotations by which the cluster autoscaler and Karpenter do not evict a pod to save nodes. */
const KEEP_RUNNING = {
  'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
  'karpenter.sh/do-not-disrupt': 'true',
};
/** Time to live of a finished Job, in seconds. Usually its MediaJob is deleted earlier, which deletes the Job. */
const KEEP_SECONDS = 86_400;

/** Returns the manifest of an attempt's Job. */
export function buildJob(settings: WorkerPod, request: RunRequest): object {
  const placement = placementOf(settings, request.kind);
  const { queueName } = placement;
  const metadata = metadataOf(request);
  const labels = { ...settings.labels, ...metadata.labels };
  const queue = queueName === undefined ? {} : { 'kueue.x-k8s.io/queue-name': queueName };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { ...metadata, labels: { ...labels, ...queue } },
    spec: {
      backoffLimit: 0,
      completions: 1,
      parallelism: 1,
      suspend: queueName !== undefined,
      ttlSecondsAfterFinished: KEEP_SECONDS,
      template: podTemplate(settings, { request, placement, labels }),
    },
  };
}

interface PodInput {
  readonly request: RunRequest;
  readonly placement: Placement;
  /** Labels by which the service finds the pod: no patch changes them. */
  readonly labels: Readonly<Record<string, string>>;
}

function podTemplate(settings: WorkerPod, { request, placement, labels }: PodInput): object {
  const template = {
    metadata: { annotations: { ...KEEP_RUNNING, ...settings.annotations } },
    spec: podSpec(settings, { request, placement }),
  };
  const patches = [settings.podPatch, settings.kinds[request.kind ?? 'unknown']?.podPatch];
  const { metadata, ...rest } = patchPod(template, patches) as { metadata: { labels?: object } };
  return { ...rest, metadata: { ...metadata, labels: { ...metadata.labels, ...labels } } };
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
    ownerReferences: [
      { apiVersion: `${API_GROUP}/${API_VERSION}`, kind: KIND, name: owner.name, uid: owner.uid, controller: true },
    ],
  };
}

function podSpec(settings: WorkerPod, { request, placement }: Omit<PodInput, 'labels'>): object {
  const resources = resourcesOf(settings, { kind: request.kind, inputSize: request.spec.input.size });
  return {
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: GRACE_SECONDS,
    activeDeadlineSeconds: request.spec.timeoutSeconds + BACKSTOP_SECONDS,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: settings.securityContext,
    imagePullSecrets: settings.imagePullSecrets,
    ...optional('nodeSelector', placement.nodeSelector),
    ...optional('tolerations', placement.tolerations),
    ...optional('affinity', placement.affinity),
    ...optional('topologySpreadConstraints', placement.topologySpreadConstraints),
    ...optional('serviceAccountName', settings.serviceAccountName),
    ...optional('runtimeClassName', placement.runtimeClassName),
    ...optional('hostUsers', settings.hostUsers),
    ...optional('priorityClassName', placement.priorityClassName),
    containers: [container(settings, resources, request)],
    volumes: [
      {
        name: 'run-spec',
        secret: {
          secretName: request.secretName,
          defaultMode: 0o440,
          items: secretKeys(request).map((key) => ({ key, path: key })),
        },
      },
      { name: 'work', emptyDir: { sizeLimit: String(resources.workBytes) } },
      { name: 'tmp', emptyDir: { sizeLimit: '256Mi' } },
      ...trustedCaVolume(settings),
      ...settings.extraVolumes,
    ],
  };
}

function container(settings: WorkerPod, { requests, limits }: Resources, request: RunRequest): object {
  const environment = {
    [RUN_SPEC]: asEnvironment(request.spec),
    [RUN_SPEC_FILE]: secretKeys(request)
      .map((key) => `${SPEC_FOLDER}/${key}`)
      .join(BETWEEN_FILES),
    [TERMINATION_FILE]: TERMINATION_PATH,
    MEDIAJOBS_WORK_DIR: WORK_FOLDER,
    MEDIAJOBS_ISOLATION: 'pod',
    MEDIAJOBS_LOG_LEVEL: settings.logLevel,
    MEDIAJOBS_IMAGE: settings.image,
    HOME: WORK_FOLDER,
    TMPDIR: WORK_FOLDER,
    LANG: 'C.UTF-8',
    ...(settings.trustedCa === undefined ? {} : { NODE_EXTRA_CA_CERTS: `${TRUSTED_CA_FOLDER}/${TRUSTED_CA_FILE}` }),
  };
  return {
    name: WORKER_CONTAINER,
    image: settings.image,
    imagePullPolicy: settings.imagePullPolicy,
    command: ['node', RUN_JOB],
    env: [...Object.entries(environment).map(([name, value]) => ({ name, value })), ...settings.extraEnv],
    envFrom: settings.extraEnvFrom,
    resources: { requests, limits },
    terminationMessagePath: TERMINATION_PATH,
    securityContext: settings.containerSecurityContext,
    volumeMounts: [
      { name: 'run-spec', mountPath: SPEC_FOLDER, readOnly: true },
      { name: 'work', mountPath: WORK_FOLDER },
      { name: 'tmp', mountPath: '/tmp' },
      ...(settings.trustedCa === undefined ? [] : [{ name: TRUSTED_CA, mountPath: TRUSTED_CA_FOLDER, readOnly: true }]),
      ...settings.extraVolumeMounts,
    ],
  };
}

function trustedCaVolume({ trustedCa }: WorkerPod): object[] {
  if (trustedCa === undefined) return [];
  const { configMap, key } = trustedCa;
  return [{ name: TRUSTED_CA, configMap: { name: configMap, items: [{ key, path: TRUSTED_CA_FILE }] } }];
}

function secretKeys({ attempt }: RunRequest): readonly string[] {
  return [INPUT_KEY, attemptKey(attempt)];
}

/** Returns the spec as JSON without `$`: a kubelet expands `$(NAME)` in environment variables. */
function asEnvironment(spec: OpenRunSpec): string {
  return JSON.stringify(spec).replaceAll('$', String.raw`\u0024`);
}

function optional<Name extends string, Value>(name: Name, value: Value | undefined): Partial<Record<Name, Value>> {
  return value === undefined ? {} : ({ [name]: value } as Record<Name, Value>);
}
