import { z } from 'zod';
import { describeFields } from '#crds/contract/describe-fields.ts';
import { CONDITION_TYPES, conditionSchema } from '#crds/contract/media-job-conditions.ts';
import {
  mediaJobSpecSchema,
  mediaJobStatusSchema,
  type MediaJobSpec,
  type MediaJobStatus,
} from '#crds/contract/media-job.ts';
import { API_GROUP, CRD_VERSION, CRD_NAME } from '#crds/contract/names.ts';
import { structuralSchema, type StructuralSchema } from '#crds/contract/structural-schema.ts';

interface CelRule {
  /** CEL expression. */
  readonly rule: string;
  readonly message: string;
}

/** Fields that `resume` sets once the input is stored. */
const COMPLETED_BY_RESUME = ['inputSize', 'kind'] as const satisfies readonly (keyof MediaJobSpec)[];

const SPEC_RULES: readonly CelRule[] = [
  { rule: '!self.suspend || oldSelf.suspend', message: 'A MediaJob that was resumed cannot be suspended again.' },
  {
    rule: `oldSelf.suspend || (${sameFields(COMPLETED_BY_RESUME)})`,
    message: 'inputSize and kind may change only while the MediaJob is suspended.',
  },
  { rule: sameFields(fixedFields()), message: 'The spec is immutable, except that a suspension may be lifted.' },
];

const NAME_RULE: CelRule = {
  rule: "self.metadata.name == self.spec.jobId.replace('_', '-')",
  message: "metadata.name must be spec.jobId with '-' instead of '_'.",
};

const STATUS_RULES: readonly CelRule[] = [
  {
    rule: "!(oldSelf.phase in ['Succeeded', 'Failed']) || self == oldSelf",
    message: 'A final status must not change.',
  },
  { rule: 'self.attempt >= oldSelf.attempt', message: 'The attempt must not decrease: this write is stale.' },
];

/** Default status until the controller writes the first one. */
const FIRST_STATUS = { phase: 'Pending', attempt: 0, percent: 0 } satisfies Partial<MediaJobStatus>;

const PRINTER_COLUMNS = [
  { name: 'Operation', type: 'string', jsonPath: '.spec.operation' },
  { name: 'Kind', type: 'string', jsonPath: '.spec.kind' },
  { name: 'Status', type: 'string', jsonPath: '.status.phase' },
  { name: 'Reason', type: 'string', jsonPath: '.status.reason' },
  { name: 'Percent', type: 'integer', jsonPath: '.status.percent' },
  { name: 'Attempt', type: 'integer', jsonPath: '.status.attempt' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Account', type: 'string', jsonPath: '.spec.account', priority: 1 },
  { name: 'Node', type: 'string', jsonPath: '.status.node', priority: 1 },
];

/**
 * Returns the CustomResourceDefinition of MediaJob as a plain object: the schema, derived from the zod schemas, and the
 * rules by which the API server refuses stale writes.
 */
export function buildMediaJobCrd() {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: CRD_NAME },
    spec: {
      group: API_GROUP,
      scope: 'Namespaced',
      names: {
        kind: 'MediaJob',
        listKind: 'MediaJobList',
        plural: 'mediajobs',
        singular: 'mediajob',
        shortNames: ['mj'],
        categories: ['media'],
      },
      versions: [
        {
          name: CRD_VERSION,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: PRINTER_COLUMNS,
          selectableFields: [{ jsonPath: '.spec.account' }, { jsonPath: '.status.phase' }],
          schema: { openAPIV3Schema: mediaJobSchema() },
        },
      ],
    },
  };
}

function mediaJobSchema(): StructuralSchema {
  return {
    type: 'object',
    description:
      'A media processing job, created by the recorder from a row of the database and run by the controller.',
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: describeFields(withRules(mediaJobSpecSchema, SPEC_RULES), 'spec'),
      status: {
        ...describeFields(withConditionMap(withRules(writtenStatusSchema, STATUS_RULES)), 'status'),
        default: FIRST_STATUS,
      },
    },
    'x-kubernetes-validations': [NAME_RULE],
  };
}

/** Status with the fields that only the controller writes. The API side does not read them. */
const writtenStatusSchema = mediaJobStatusSchema.extend({
  observedGeneration: z.int().min(0).nullable(),
  conditions: z
    .array(conditionSchema)
    .max(CONDITION_TYPES.length)
    .nullable()
    .meta({ description: 'Derived from the other fields of the status.' }),
});

/** Returns the schema of the status with conditions as a map by type, as clients of Kubernetes merge them. */
function withConditionMap(status: StructuralSchema): StructuralSchema {
  const properties = status['properties'] as Readonly<Record<string, StructuralSchema>>;
  const map = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] };
  return { ...status, properties: { ...properties, conditions: { ...properties['conditions'], ...map } } };
}

function withRules(schema: z.ZodObject, rules: readonly CelRule[]): StructuralSchema {
  return { ...structuralSchema(schema), 'x-kubernetes-validations': rules };
}

function fixedFields(): string[] {
  const changing: readonly string[] = ['suspend', ...COMPLETED_BY_RESUME];
  return Object.keys(mediaJobSpecSchema.shape).filter((name) => !changing.includes(name));
}

/** Returns a CEL expression that is true when the fields are unchanged. CEL treats null fields as absent. */
function sameFields(names: readonly string[]): string {
  const nullable = (name: string): boolean =>
    mediaJobSpecSchema.shape[name as keyof MediaJobSpec] instanceof z.ZodNullable;
  const same = (name: string): string => `self.${name} == oldSelf.${name}`;
  return names
    .map((name) =>
      nullable(name)
        ? `has(self.${name}) == has(oldSelf.${name}) && (!has(self.${name}) || ${same(name)})`
        : same(name),
    )
    .join(' && ');
}
