/**
 * Conditions in Kubernetes' standard form, derived from a MediaJob's status: for `kubectl wait`, dashboards and generic
 * clients. This project makes no decision by them.
 *
 *   Admitted   the input is stored, the job may run
 *   Started    an attempt has sent a heartbeat
 *   Succeeded  Unknown until the final phase, then True or False
 */
import { z } from 'zod';
import { isFinal, type MediaJobStatus } from '#crds/contract/media-job.ts';

export const CONDITION_TYPES = ['Admitted', 'Started', 'Succeeded'] as const;
type ConditionType = (typeof CONDITION_TYPES)[number];

export const conditionSchema = z.object({
  type: z.enum(CONDITION_TYPES),
  status: z.enum(['True', 'False', 'Unknown']),
  observedGeneration: z.int().min(0),
  lastTransitionTime: z.iso.datetime(),
  reason: z.string().min(1).max(100),
  message: z.string().max(1000),
});
export type Condition = z.infer<typeof conditionSchema>;

interface ConditionsInput {
  readonly status: MediaJobStatus;
  readonly generation: number;
  readonly before: readonly Condition[];
  readonly now: Date;
}

/** Returns one condition per type, in a fixed order. `lastTransitionTime` changes with the status only. */
export function conditionsOf(input: ConditionsInput): Condition[] {
  return CONDITION_TYPES.map((type) => {
    const status = statusOf(type, input.status);
    const before = input.before.find((condition) => condition.type === type);
    const kept = before?.status === status ? before.lastTransitionTime : null;
    return {
      type,
      status,
      observedGeneration: input.generation,
      lastTransitionTime: kept ?? input.now.toISOString(),
      reason: input.status.reason ?? input.status.phase,
      message: input.status.message ?? '',
    };
  });
}

function statusOf(type: ConditionType, status: MediaJobStatus): Condition['status'] {
  switch (type) {
    case 'Admitted':
      return status.reason === 'Suspended' ? 'False' : 'True';
    case 'Started':
      return status.startedAt === null ? 'False' : 'True';
    case 'Succeeded':
      if (!isFinal(status)) return 'Unknown';
      return status.phase === 'Succeeded' ? 'True' : 'False';
  }
}
