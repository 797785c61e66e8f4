/** The story of a MediaJob as `kubectl describe` tells it: one event per turn of its status. */
import type { KubeEvent } from '#crds/kube/event-recorder.ts';
import { isFinal, type MediaJobStatus } from '#crds/media-job.ts';

/** What there is to tell after a status write; null: nothing. Percents are no events. Pure. */
export function eventOf(before: MediaJobStatus | undefined, after: MediaJobStatus): KubeEvent | null {
  if (after.phase === 'Succeeded')
    return { type: 'Normal', reason: 'Succeeded', message: `Attempt ${after.attempt} left its output.` };
  if (after.phase === 'Failed')
    return { type: 'Warning', reason: after.reason ?? 'Failed', message: failure(after) };
  if (after.reason === 'AttemptLost' && before?.reason !== 'AttemptLost')
    return { type: 'Warning', reason: 'AttemptLost', message: after.message ?? `Attempt ${after.attempt} was lost.` };
  if (after.phase === 'Running' && before?.phase !== 'Running')
    return { type: 'Normal', reason: 'Running', message: `Attempt ${after.attempt} works on ${after.node ?? 'a node'}.` };
  if (isWaiting(after) && (before?.reason !== after.reason || before?.message !== after.message))
    return { type: 'Warning', reason: after.reason ?? 'Waiting', message: after.message ?? 'The job waits.' };
  return null;
}

function failure({ error, message }: MediaJobStatus): string {
  return `${error?.code ?? 'internal'}: ${error?.message ?? message ?? 'The job failed.'}`;
}

function isWaiting(status: MediaJobStatus): boolean {
  return !isFinal(status) && (status.reason === 'WaitingForCapacity' || status.reason === 'ImageNotPulled');
}
