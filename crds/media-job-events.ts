/** The story of a MediaJob as `kubectl describe` tells it: one event per turn of its status. */
import type { KubeEvent } from '#crds/kube/event-recorder.ts';
import type { MediaJobStatus } from '#crds/media-job.ts';

/** What there is to tell after a status write; null: nothing. Percents are no events. Pure. */
export function eventOf(before: MediaJobStatus | undefined, after: MediaJobStatus): KubeEvent | null {
  for (const tell of STORY) {
    const event = tell(after, before);
    if (event !== null) return event;
  }
  return null;
}

type Teller = (after: MediaJobStatus, before: MediaJobStatus | undefined) => KubeEvent | null;

/** The first that has something to tell tells it. */
const STORY: readonly Teller[] = [success, failure, loss, start, wait];

function success({ phase, attempt }: MediaJobStatus): KubeEvent | null {
  if (phase !== 'Succeeded') return null;
  return { type: 'Normal', reason: 'Succeeded', message: `Attempt ${attempt} left its output.` };
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
  return { type: 'Normal', reason: 'Running', message: `Attempt ${attempt} works on ${node ?? 'a node'}.` };
}

function wait({ reason, message }: MediaJobStatus, before: MediaJobStatus | undefined): KubeEvent | null {
  if (reason !== 'WaitingForCapacity' && reason !== 'ImageNotPulled') return null;
  if (before?.reason === reason && before.message === message) return null;
  return { type: 'Warning', reason, message: message ?? 'The job waits.' };
}
