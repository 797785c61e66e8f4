/** What an operator says about the pods of jobs, as the chart hands it to the controller. */
import { z } from 'zod';
import { KINDS, type Kind } from '#crds/formats.ts';

const RESOURCES = ['cpu', 'memory', 'ephemeral-storage'] as const;
const QUANTITY = /^(\d+(?:\.\d+)?)(m|[kMGTPE]|[KMGTPE]i)?$/;
const quantity = z.string().regex(QUANTITY, 'must be a quantity, such as 500m, 2 or 512Mi');
const quantities = z.partialRecord(z.enum(RESOURCES), quantity);
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

export const workerPodSchema = z.object({
  image: z.string().min(1),
  imagePullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).default('IfNotPresent'),
  imagePullSecrets: z.array(z.object({ name: z.string() })).default([]),
  /** Of the pods of jobs; it needs no rights. */
  serviceAccountName: z.string().optional(),
  runtimeClassName: z.string().optional(),
  hostUsers: z.boolean().optional(),
  priorityClassName: z.string().optional(),
  /** A LocalQueue of Kueue: Jobs are made suspended and Kueue starts them. */
  queueName: z.string().optional(),
  nodeSelector: z.record(z.string(), z.string()).default({}),
  tolerations: z.array(z.record(z.string(), z.unknown())).default([]),
  labels: z.record(z.string(), z.string()).default({}),
  annotations: z.record(z.string(), z.string()).default({}),
  runAsUser: z.int().min(1).default(1000),
  logLevel: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  /** By kind, beside the defaults; for a kind that is not known before the work begins: `unknown`. */
  resources: z.partialRecord(z.enum([...KINDS, 'unknown']), resourcesSchema).default({}),
});
export type WorkerPod = z.infer<typeof workerPodSchema>;

export interface Resources {
  readonly requests: Readonly<Record<string, string>>;
  readonly limits: Readonly<Record<string, string>>;
  /** Of the folder for files in work, bytes. */
  readonly workBytes: number;
}

interface Size {
  readonly cpu: string;
  /** MiB. */
  readonly memory: number;
  readonly memoryLimit: number;
  /** MiB of memory limit more for each MiB of input, up to twice the limit. */
  readonly memoryPerInput: number;
  /** Bytes that the work may take on disk for each byte of input. */
  readonly diskPerInput: number;
}

const OFFICE: Size = { cpu: '500m', memory: 512, memoryLimit: 2048, memoryPerInput: 8, diskPerInput: 8 };
const SIZES: Readonly<Record<Kind | 'unknown', Size>> = {
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
const LEAST_WORK_MIB = 1024;

/** What a pod asks for: by the kind that the file's name promises and by the size of the input. */
export function resourcesOf(
  settings: Pick<WorkerPod, 'resources'>,
  { kind, inputSize }: { kind: Kind | null; inputSize: number | null },
): Resources {
  const size = SIZES[kind ?? 'unknown'];
  const input = Math.ceil((inputSize ?? 0) / MIB);
  const limit = Math.min(size.memoryLimit * 2, size.memoryLimit + size.memoryPerInput * input);
  const work = LEAST_WORK_MIB + size.diskPerInput * input;
  const requests = { cpu: size.cpu, memory: `${size.memory}Mi`, 'ephemeral-storage': `${256 + 2 * input}Mi` };
  const limits = { memory: `${limit}Mi`, 'ephemeral-storage': `${work + 256}Mi` };
  const given = settings.resources[kind ?? 'unknown'];
  return {
    requests: { ...bounded(requests, given?.limits, isMore), ...given?.requests },
    limits: { ...bounded(limits, given?.requests, (a, b) => isMore(b, a)), ...given?.limits },
    workBytes: work * MIB,
  };
}

type Quantities = Readonly<Record<string, string>>;

/** The defaults, but what is given where they lie beyond it: no pod may request more than its limit. */
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

/** Of cores or bytes. Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ */
function amountOf(quantity: string): number {
  const [, number = '', suffix = ''] = QUANTITY.exec(quantity) ?? [];
  if (suffix === 'm') return Number(number) / 1000;
  const base = suffix.endsWith('i') ? 1024 : 1000;
  return Number(number) * base ** ['', 'K', 'M', 'G', 'T', 'P', 'E'].indexOf(suffix.slice(0, 1).toUpperCase());
}
