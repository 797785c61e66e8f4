/** Pod template of a worker, of an attempt or on standby, with the operator's settings. Pure. */
import type { Kind } from '#crds/catalogue/formats.ts';
import { TERMINATION_FILE } from '#crds/contract/run-files.ts';
import { patchPod } from '#controller/patch-pod.ts';
import { placementOf, resourcesOf, type Placement, type Resources, type WorkerPod } from '#controller/worker-pod.ts';

export const WORKER_CONTAINER = 'worker';
/** Folder of what is mounted for the worker alone: the files of its RunSpec, or a standby's token. */
export const MOUNT_FOLDER = '/run/mediajobs';

const WORK_FOLDER = '/work';
const TRUSTED_CA = 'trusted-ca';
const TRUSTED_CA_FOLDER = '/etc/mediajobs/trusted-ca';
const TRUSTED_CA_FILE = 'ca.pem';
const TERMINATION_PATH = '/dev/termination-log';
const GRACE_SECONDS = 10;

export interface WorkerTemplate {
  /** Labels by which the service finds the pod: no patch changes them. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly kind: Kind | null;
  /** Size of the input, for the resources; null: unknown. */
  readonly inputSize: number | null;
  /** Time after which the node ends the pod; null: none. */
  readonly deadlineSeconds: number | null;
  /** Script in the folder of the worker image. */
  readonly script: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Source of the volume at `MOUNT_FOLDER`. */
  readonly mounted: object;
}

/** Returns the pod template. */
export function buildWorkerTemplate(settings: WorkerPod, template: WorkerTemplate): object {
  const { labels, annotations, kind } = template;
  const unpatched = {
    metadata: { annotations: { ...annotations, ...settings.annotations } },
    spec: podSpec(settings, template),
  };
  const patches = [settings.podPatch, settings.kinds[kind ?? 'unknown']?.podPatch];
  const { metadata, ...rest } = patchPod(unpatched, patches) as { metadata: { labels?: object } };
  return { ...rest, metadata: { ...metadata, labels: { ...metadata.labels, ...labels } } };
}

function podSpec(settings: WorkerPod, template: WorkerTemplate): object {
  const resources = resourcesOf(settings, template);
  return {
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: GRACE_SECONDS,
    ...optional('activeDeadlineSeconds', template.deadlineSeconds ?? undefined),
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: settings.securityContext,
    imagePullSecrets: settings.imagePullSecrets,
    ...placementFields(placementOf(settings, template.kind)),
    ...optional('serviceAccountName', settings.serviceAccountName),
    ...optional('hostUsers', settings.hostUsers),
    containers: [container(settings, resources, template)],
    volumes: [
      { name: 'run-spec', ...template.mounted },
      { name: 'work', emptyDir: { sizeLimit: String(resources.workBytes) } },
      { name: 'tmp', emptyDir: { sizeLimit: '256Mi' } },
      ...trustedCaVolume(settings),
      ...settings.extraVolumes,
    ],
  };
}

function placementFields(placement: Placement): object {
  return {
    ...optional('nodeSelector', placement.nodeSelector),
    ...optional('tolerations', placement.tolerations),
    ...optional('affinity', placement.affinity),
    ...optional('topologySpreadConstraints', placement.topologySpreadConstraints),
    ...optional('runtimeClassName', placement.runtimeClassName),
    ...optional('priorityClassName', placement.priorityClassName),
  };
}

function container(settings: WorkerPod, { requests, limits }: Resources, template: WorkerTemplate): object {
  const environment = {
    ...template.environment,
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
    command: ['node', `.code-cache/bundle/worker-image/${template.script}.mjs`],
    env: [...Object.entries(environment).map(([name, value]) => ({ name, value })), ...settings.extraEnv],
    envFrom: settings.extraEnvFrom,
    resources: { requests, limits },
    terminationMessagePath: TERMINATION_PATH,
    securityContext: settings.containerSecurityContext,
    volumeMounts: [
      { name: 'run-spec', mountPath: MOUNT_FOLDER, readOnly: true },
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

function optional<Name extends string, Value>(name: Name, value: Value | undefined): Partial<Record<Name, Value>> {
  return value === undefined ? {} : ({ [name]: value } as Record<Name, Value>);
}
