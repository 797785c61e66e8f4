import type { MediaJob, MediaJobStatus } from '#crds/contract/media-job.ts';
import type { Decision } from '#controller/decision.ts';
import type { JobFacts } from '#controller/facts.ts';
import type { Reason } from '#crds/contract/names.ts';
import { plainText } from '#crds/process/plain-text.ts';
import type { WaitingFor } from '#controller/runs.ts';
import { isUnheard } from '#controller/silence-deadline.ts';

/** Maximum length of a message in the CRD's schema. */
const MESSAGE_CHARACTERS = 1000;

const HEARTBEATS_MISSING =
  'Most running attempts have sent no heartbeat for a minute, this one too. Their nodes report them as running, so they ' +
  'are not lost for ten minutes. Check DNS, network policies and the heartbeat port of the controller.';
const NO_HEARTBEAT_YET =
  'The attempt has sent no heartbeat since its pod started. Its node reports it as running, so it is not lost for ten ' +
  'minutes. Check DNS, network policies and the heartbeat port of the controller.';

/** Reason in the status for each cause of waiting. */
export const WAITING_REASONS: Readonly<Record<WaitingFor['reason'], Reason>> = {
  capacity: 'WaitingForCapacity',
  quota: 'PodRefused',
  image: 'ImageNotPulled',
  refused: 'PodRefused',
  'not-started': 'PodNotStarted',
};

/**
 * Returns the status of a MediaJob, or the initial one when none was written. Its attempt is the last one of the
 * earlier MediaJobs: an end before the first attempt of this MediaJob is recorded with that number.
 */
export function statusOf({ spec, status }: Pick<MediaJob, 'spec' | 'status'>): MediaJobStatus {
  return (
    status ?? {
      phase: 'Pending',
      attempt: spec.firstAttempt - 1,
      disruptions: spec.disruptions,
      percent: 0,
      startedAt: spec.startedAt,
      completedAt: null,
      reason: null,
      message: null,
      node: null,
      report: null,
      error: null,
    }
  );
}

/** Returns the status with the current attempt, which may have started without being recorded. */
export function statusNow({ mediaJob, attempt }: { mediaJob: MediaJob; attempt: number }): MediaJobStatus {
  return { ...statusOf(mediaJob), attempt };
}

type WritingDecision = Exclude<Decision, { action: 'release' | 'wait' }>;

/** Returns the status that records a decision. The percentage never decreases, also between attempts. Pure. */
export function statusAfter(
  facts: Pick<JobFacts, 'attempt' | 'run' | 'heartbeat' | 'now'> & { readonly mediaJob: MediaJob },
  decision: WritingDecision,
): MediaJobStatus {
  const status = statusNow(facts);
  switch (decision.action) {
    case 'suspend':
      return { ...status, reason: 'Suspended', message: null };
    case 'start':
      return { ...status, phase: 'Pending', attempt: decision.attempt, reason: null, message: null, node: null };
    case 'show-waiting':
      return {
        ...status,
        reason: WAITING_REASONS[decision.waitingFor.reason],
        message: plainText(decision.waitingFor.message, MESSAGE_CHARACTERS),
      };
    case 'show-silence':
      return {
        ...status,
        reason: 'HeartbeatsMissing',
        message: isUnheard({ heartbeat: facts.heartbeat, status }) ? NO_HEARTBEAT_YET : HEARTBEATS_MISSING,
      };
    case 'mark-running':
      return {
        ...status,
        phase: 'Running',
        startedAt: status.startedAt ?? decision.startedAt.toISOString(),
        percent: Math.max(status.percent, decision.percent),
        reason: 'Running',
        message: null,
        node: facts.run?.node ?? null,
      };
    case 'show-percent':
      return { ...status, percent: Math.max(status.percent, decision.percent) };
    case 'lose':
      return {
        ...status,
        phase: 'Pending',
        reason: 'AttemptLost',
        disruptions: decision.cause === 'evicted' ? (status.disruptions ?? 0) + 1 : status.disruptions,
        message: plainText(`Attempt ${status.attempt} was lost: ${decision.message}.`, MESSAGE_CHARACTERS),
      };
    case 'finish':
      return finished(facts, status, decision);
  }
}

/** Returns the status of a job without capacity. A lost attempt remains the reason until the next one starts. */
export function waitingStatus(status: MediaJobStatus): MediaJobStatus {
  if (status.reason === 'AttemptLost') return status;
  return { ...status, reason: 'WaitingForCapacity', message: 'No slot is free.' };
}

function finished(
  { run, heartbeat, now }: Pick<JobFacts, 'run' | 'heartbeat' | 'now'>,
  status: MediaJobStatus,
  { outcome, reason }: WritingDecision & { action: 'finish' },
): MediaJobStatus {
  const end = {
    ...status,
    startedAt: status.startedAt ?? firstReportAt({ run, heartbeat }),
    completedAt: now.toISOString(),
    reason,
    node: run?.node ?? status.node,
  };
  if (outcome.outcome === 'succeeded')
    return { ...end, phase: 'Succeeded', percent: 100, message: null, report: outcome.report, error: null };
  const message = plainText(outcome.error.message, MESSAGE_CHARACTERS);
  return { ...end, phase: 'Failed', message, report: null, error: { ...outcome.error, message } };
}

/** Returns the start of a job: its first heartbeat, or the start of a run that ended before one was recorded. */
function firstReportAt({ run, heartbeat }: Pick<JobFacts, 'run' | 'heartbeat'>): string | null {
  if (heartbeat !== null) return heartbeat.firstAt.toISOString();
  return run?.status.state === 'ended' ? run.status.startedAt.toISOString() : null;
}
