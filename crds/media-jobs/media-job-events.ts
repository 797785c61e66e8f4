/** Kubernetes events of a MediaJob, which `kubectl describe` shows: one event per transition of its status. */
import type { KubeEvent } from '#crds/kube/event-recorder.ts';
import type { Reason } from '#crds/contract/names.ts';
import type { MediaJobStatus } from '#crds/contract/media-job.ts';

/** Returns the event of a status write; null when there is none, as for a changed percentage. */
export function eventOf(before: MediaJobStatus | undefined, after: MediaJobStatus): KubeEvent | null {
  for (const source of EVENT_SOURCES) {
    const event = source(after, before);
    if (event !== null) return event;
  }
  return null;
}

type EventSource = (after: MediaJobStatus, before: MediaJobStatus | undefined) => KubeEvent | null;

/** Sources of events in order; the first event counts. */
const EVENT_SOURCES: readonly EventSource[] = [success, failure, loss, start, wait];

function success({ phase, attempt }: MediaJobStatus): KubeEvent | null {
  if (phase !== 'Succeeded') return null;
  return { type: 'Normal', reason: 'Succeeded', message: `Attempt ${attempt} stored its output.` };
}

function failure({ phase, reason, error }: MediaJobStatus): KubeEvent | null {
  if (phase !== 'Failed') return null;
  const message = error === null ? 'The job failed.' : `${error.code}: ${error.message}`;
  return { type: 'Warning', reason: reason ?? phase, message };
}

function loss(after: MediaJobStatus, before: MediaJobStatus | undefined): KubeEvent | null {
  if (after.reason !== 'AttemptLost' || before?.reason === 'AttemptLost') return null;
  return { type: 'Warning', reason: after.reason, message: after.message ?? `Attempt ${after.attempt} was lost.` };
}

function start({ phase, attempt, node }: MediaJobStatus, before: MediaJobStatus | undefined): KubeEvent | null {
  if (phase !== 'Running' || before?.phase === 'Running') return null;
  return {
    type: 'Normal',
    reason: 'Running',
    message: `Attempt ${attempt} is running on ${node ?? 'an unknown node'}.`,
  };
}

/** Reasons of a job that waits or may be in trouble. */
const WARNED_REASONS: ReadonlySet<Reason> = new Set([
  'WaitingForCapacity',
  'ImageNotPulled',
  'PodRefused',
  'PodNotStarted',
  'HeartbeatsMissing',
]);

function wait({ reason, message }: MediaJobStatus, before: MediaJobStatus | undefined): KubeEvent | null {
  if (reason === null || !WARNED_REASONS.has(reason)) return null;
  if (before?.reason === reason && before.message === message) return null;
  return { type: 'Warning', reason, message: message ?? 'The job is waiting.' };
}
