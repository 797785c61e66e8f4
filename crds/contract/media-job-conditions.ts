/**
 * Conditions in Kubernetes' standard form, derived from a MediaJob's status: for `kubectl wait`, dashboards and generic
 * clients. This project makes no decision by them.
 *
 *   Admitted            the input is stored, the job may run
 *   Started             an attempt has sent a heartbeat
 *   HeartbeatsReceived  False while heartbeats of most attempts are missing
 *   Succeeded           Unknown until the final phase, then True or False
 *   Complete, Failed    True in the phase Succeeded or Failed, as those of a Kubernetes Job: for `kubectl wait`
 */
import { z } from 'zod';
import { isFinal, type MediaJobStatus } from '#crds/contract/media-job.ts';

export const CONDITION_TYPES = [
  'Admitted',
  'Started',
  'HeartbeatsReceived',
  'Succeeded',
  'Complete',
  'Failed',
] as const;
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
      reason: reasonOf(type, input.status),
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
    case 'HeartbeatsReceived':
      if (status.startedAt === null) return 'Unknown';
      return status.reason === 'HeartbeatsMissing' ? 'False' : 'True';
    case 'Complete':
      return status.phase === 'Succeeded' ? 'True' : 'False';
    case 'Failed':
      return status.phase === 'Failed' ? 'True' : 'False';
    case 'Succeeded':
      if (!isFinal(status)) return 'Unknown';
      return status.phase === 'Succeeded' ? 'True' : 'False';
  }
}

/** Returns why a condition has its status: for those that are settled, the fact itself. */
function reasonOf(type: ConditionType, status: MediaJobStatus): string {
  const current = status.reason ?? status.phase;
  switch (type) {
    case 'Admitted':
      return status.reason === 'Suspended' ? 'InputNotStored' : 'InputStored';
    case 'Started':
      return status.startedAt === null ? current : 'HeartbeatReceived';
    case 'HeartbeatsReceived':
      if (status.startedAt === null) return 'NotStarted';
      return status.reason === 'HeartbeatsMissing' ? status.reason : 'HeartbeatReceived';
    case 'Complete':
    case 'Failed':
      return isFinal(status) ? current : 'Unfinished';
    case 'Succeeded':
      return current;
  }
}
