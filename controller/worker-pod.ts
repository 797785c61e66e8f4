/** Operator's settings of the pods of jobs, which the chart passes to the controller. */
import { z } from 'zod';
import { KINDS, type Kind } from '#crds/catalogue/formats.ts';

const RESOURCES = ['cpu', 'memory', 'ephemeral-storage'] as const;
/** Extended resources, such as nvidia.com/gpu, and huge pages. */
const EXTENDED_RESOURCE = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/[A-Za-z0-9][-\w.]*|hugepages-\d+[KMG]i)$/;
const QUANTITY = /^(\d+(?:\.\d+)?)(m|[kMGTPE]|[KMGTPE]i)?$/;
const quantity = z.string().regex(QUANTITY, 'must be a quantity, such as 500m, 2 or 512Mi');
const resourceName = z.union([z.enum(RESOURCES), z.string().regex(EXTENDED_RESOURCE)]);
const quantities = z.record(resourceName, quantity);
const resourcesSchema = z
  .object({ requests: quantities.default({}), limits: quantities.default({}) })
  .superRefine(({ requests, limits }, context) => {
    for (const name of RESOURCES) {
      const [request, limit] = [requests[name], limits[name]];
      if (request !== undefined && limit !== undefined && isMore(request, limit))
        context.addIssue({
          code: 'custom',
          path: ['requests', name],
          message: `requests ${request}, more than the limit of ${limit}: lower the request or raise the limit`,
        });
    }
  });

/** Fields of the API server, which checks them when the pod is created. */
const object = z.record(z.string(), z.unknown());

/** What may differ between kinds of jobs. */
const placementSchema = z.strictObject({
  runtimeClassName: z.string().optional(),
  priorityClassName: z.string().optional(),
  /** LocalQueue of Kueue: Jobs are created suspended and Kueue starts them. */
  queueName: z.string().optional(),
  nodeSelector: z.record(z.string(), z.string()).optional(),
  tolerations: z.array(object).optional(),
  affinity: object.optional(),
  topologySpreadConstraints: z.array(object).optional(),
  /** Changes of the pod's metadata and spec (`controller/patch-pod.ts`). */
  podPatch: object.optional(),
});

const kindSchema = placementSchema.extend({
  resources: resourcesSchema.optional(),
  /** Maximum number of concurrent runs of the kind. */
  maxRunning: z.int().min(1).nullish(),
});

const settingsSchema = placementSchema.extend({
  image: z.string().min(1),
  imagePullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).default('IfNotPresent'),
  imagePullSecrets: z.array(z.object({ name: z.string() })).default([]),
  /** Service account of the pods; it needs no permissions. */
  serviceAccountName: z.string().optional(),
  hostUsers: z.boolean().optional(),
  securityContext: object.default({
    runAsNonRoot: true,
    runAsUser: 1000,
    runAsGroup: 1000,
    fsGroup: 1000,
    seccompProfile: { type: 'RuntimeDefault' },
  }),
  containerSecurityContext: object.default({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  }),
  labels: z.record(z.string(), z.string()).default({}),
  annotations: z.record(z.string(), z.string()).default({}),
  extraEnv: z.array(object).default([]),
  extraEnvFrom: z.array(object).default([]),
  extraVolumes: z.array(object).default([]),
  extraVolumeMounts: z.array(object).default([]),
  /** ConfigMap with certificates that are trusted for the bucket, in addition to the public authorities. */
  trustedCa: z.object({ configMap: z.string().min(1), key: z.string().min(1) }).optional(),
  logLevel: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  /** Number of standbys by kind: pods that have started and wait for a small job (`controller/standbys.ts`). */
  standby: z.partialRecord(z.enum([...KINDS, 'unknown']), z.int().min(0)).default({}),
  /** Maximum number of small jobs that a standby takes one after the other, all of the account of its first one. */
  jobsPerPod: z.int().min(1).max(1000).default(1),
  /** Settings by kind, which override those of all kinds; `unknown`: the kind is not known before the run. */
  kinds: z.partialRecord(z.enum([...KINDS, 'unknown']), kindSchema).default({}),
});
export const workerPodSchema = settingsSchema.superRefine((settings, context) => {
  for (const [kind, count] of standbyCounts(settings))
    if (count > 0 && placementOf(settings, kind === 'unknown' ? null : kind).queueName !== undefined)
      context.addIssue({
        code: 'custom',
        path: ['standby', kind],
        message:
          'a kind with a queueName has no standbys: Kueue would count them as running jobs. Set 0, or no queueName',
      });
});
export type WorkerPod = z.infer<typeof settingsSchema>;
/** Kind of a standby; `unknown`: for files whose name does not determine the kind. */
export type StandbyKind = Kind | 'unknown';
export type Placement = z.infer<typeof placementSchema>;

/** Returns where and how the pods of a kind run. Node selectors are merged, all else is overridden by the kind's. */
export function placementOf(settings: Placement & Pick<WorkerPod, 'kinds'>, kind: Kind | null): Placement {
  const { nodeSelector, ...own } = settings.kinds[kind ?? 'unknown'] ?? {};
  return { ...settings, ...own, nodeSelector: { ...settings.nodeSelector, ...nodeSelector } };
}

/** Returns the kinds for which standbys are configured, with their number. */
export function standbyCounts({ standby }: Pick<WorkerPod, 'standby'>): readonly (readonly [StandbyKind, number])[] {
  return Object.entries(standby) as [StandbyKind, number][];
}

/** Returns the maximum number of concurrent runs of the kinds that have one. */
export function maxRunningByKind({ kinds }: Pick<WorkerPod, 'kinds'>): Partial<Record<Kind | 'unknown', number>> {
  const limits = Object.entries(kinds).flatMap(([kind, { maxRunning }]) =>
    maxRunning == null ? [] : [[kind, maxRunning]],
  );
  return Object.fromEntries(limits) as Partial<Record<Kind | 'unknown', number>>;
}

export interface Resources {
  readonly requests: Readonly<Record<string, string>>;
  readonly limits: Readonly<Record<string, string>>;
  /** Size of the working folder, in bytes. */
  readonly workBytes: number;
}

interface DefaultResources {
  readonly cpu: string;
  /** Requested memory in MiB. */
  readonly memory: number;
  /** Memory limit in MiB. */
  readonly memoryLimit: number;
  /** Increase of the memory limit per size of the input, up to twice the limit. */
  readonly memoryPerInput: number;
  /** Size of the working folder per size of the input. */
  readonly diskPerInput: number;
}

const OFFICE: DefaultResources = { cpu: '500m', memory: 512, memoryLimit: 2048, memoryPerInput: 8, diskPerInput: 8 };
const SIZES: Readonly<Record<Kind | 'unknown', DefaultResources>> = {
  image: { cpu: '250m', memory: 256, memoryLimit: 2048, memoryPerInput: 8, diskPerInput: 4 },
  pdf: { cpu: '250m', memory: 256, memoryLimit: 2048, memoryPerInput: 8, diskPerInput: 8 },
  video: { cpu: '1', memory: 512, memoryLimit: 4096, memoryPerInput: 0, diskPerInput: 4 },
  audio: { cpu: '250m', memory: 192, memoryLimit: 1024, memoryPerInput: 0, diskPerInput: 6 },
  word: OFFICE,
  sheet: OFFICE,
  presentation: OFFICE,
  table: { cpu: '250m', memory: 256, memoryLimit: 2048, memoryPerInput: 8, diskPerInput: 8 },
  font: { cpu: '100m', memory: 192, memoryLimit: 1024, memoryPerInput: 4, diskPerInput: 4 },
  unknown: { cpu: '500m', memory: 512, memoryLimit: 4096, memoryPerInput: 4, diskPerInput: 6 },
};

const MIB = 1024 ** 2;
/** Minimum size of the working folder, in MiB. */
const MIN_WORK_MIB = 1024;

/** Returns the resources of a pod for the kind of the file's name and the size of the input. */
export function resourcesOf(
  settings: Pick<WorkerPod, 'kinds'>,
  { kind, inputSize }: { kind: Kind | null; inputSize: number | null },
): Resources {
  const size = SIZES[kind ?? 'unknown'];
  const input = Math.ceil((inputSize ?? 0) / MIB);
  const limit = Math.min(size.memoryLimit * 2, size.memoryLimit + size.memoryPerInput * input);
  const work = MIN_WORK_MIB + size.diskPerInput * input;
  const requests = { cpu: size.cpu, memory: `${size.memory}Mi`, 'ephemeral-storage': `${256 + 2 * input}Mi` };
  const limits = { memory: `${limit}Mi`, 'ephemeral-storage': `${work + 256}Mi` };
  const given = settings.kinds[kind ?? 'unknown']?.resources;
  return {
    requests: { ...bounded(requests, given?.limits, isMore), ...given?.requests },
    limits: { ...bounded(limits, given?.requests, (a, b) => isMore(b, a)), ...given?.limits },
    workBytes: work * MIB,
  };
}

type Quantities = Readonly<Record<string, string>>;

/** Returns the defaults, bounded by the operator's values: a pod must not request more than its limit. */
function bounded(
  defaults: Quantities,
  given: Quantities = {},
  isBeyond: (value: string, bound: string) => boolean,
): Quantities {
  return Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => {
      const bound = given[name];
      return [name, bound !== undefined && isBeyond(value, bound) ? bound : value];
    }),
  );
}

function isMore(quantity: string, than: string): boolean {
  return amountOf(quantity) > amountOf(than);
}

/** Returns cores or bytes. Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ */
function amountOf(quantity: string): number {
  const [, number = '', suffix = ''] = QUANTITY.exec(quantity) ?? [];
  if (suffix === 'm') return Number(number) / 1000;
  const base = suffix.endsWith('i') ? 1024 : 1000;
  return Number(number) * base ** ['', 'K', 'M', 'G', 'T', 'P', 'E'].indexOf(suffix.slice(0, 1).toUpperCase());
}
