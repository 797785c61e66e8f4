import type { MediaJob, MediaJobStatus } from '#crds/media-job.ts';
import type { Decision } from '#controller/decision.ts';
import type { Facts } from '#controller/facts.ts';
import type { Reason } from '#crds/names.ts';
import type { WaitingFor } from '#controller/runs.ts';

/** What a run without a place waits for, as the status says it. */
export const WAITING_REASONS: Readonly<Record<WaitingFor['on'], Reason>> = {
  capacity: 'WaitingForCapacity',
  image: 'ImageNotPulled',
};

/**
 * As written, or that of a MediaJob that the controller has not written to yet. Its attempt is the last one
 * of the MediaJobs before it: an end that is decided before this one's first attempt counts as that one's.
 */
export function statusOf({ spec, status }: Pick<MediaJob, 'spec' | 'status'>): MediaJobStatus {
  return (
    status ?? {
      phase: 'Pending',
      attempt: spec.firstAttempt - 1,
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

/** As it would be written now: an attempt that was started may not have been recorded yet. */
export function statusNow({ mediaJob, attempt }: { mediaJob: MediaJob; attempt: number }): MediaJobStatus {
  return { ...statusOf(mediaJob), attempt };
}

type WritingDecision = Exclude<Decision, { action: 'release' | 'wait' }>;

/** The status that a decision is recorded with. The percent never falls, also not from attempt to attempt. Pure. */
export function statusAfter(
  facts: Pick<Facts, 'attempt' | 'run' | 'heartbeat' | 'now'> & { readonly mediaJob: MediaJob },
  decision: WritingDecision,
): MediaJobStatus {
  const status = statusNow(facts);
  switch (decision.action) {
    case 'suspend':
      return { ...status, reason: 'Suspended', message: null };
    case 'start':
      return { ...status, phase: 'Pending', attempt: decision.attempt, reason: null, message: null, node: null };
    case 'show-waiting':
      return { ...status, reason: WAITING_REASONS[decision.for.on], message: decision.for.message };
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
        message: `Attempt ${status.attempt} was lost: ${decision.message}.`.slice(0, 1000),
      };
    case 'finish':
      return finished(facts, status, decision);
  }
}

/** Of a job for which there is no place. A lost attempt stays recorded as the reason until the next one starts. */
export function waitingStatus(status: MediaJobStatus): MediaJobStatus {
  if (status.reason === 'AttemptLost') return status;
  return { ...status, reason: 'WaitingForCapacity', message: 'No engine is free.' };
}

function finished(
  { run, heartbeat, now }: Pick<Facts, 'run' | 'heartbeat' | 'now'>,
  status: MediaJobStatus,
  { outcome, reason }: WritingDecision & { action: 'finish' },
): MediaJobStatus {
  const end = {
    ...status,
    startedAt: status.startedAt ?? firstSign({ run, heartbeat }),
    completedAt: now.toISOString(),
    reason,
    node: run?.node ?? status.node,
  };
  if (outcome.outcome === 'succeeded')
    return { ...end, phase: 'Succeeded', percent: 100, message: null, report: outcome.report, error: null };
  return { ...end, phase: 'Failed', message: outcome.error.message, report: null, error: outcome.error };
}

/** A worker may end before its first heartbeat was recorded; its job has run all the same. */
function firstSign({ run, heartbeat }: Pick<Facts, 'run' | 'heartbeat'>): string | null {
  if (heartbeat !== null) return heartbeat.firstAt.toISOString();
  return run?.is.state === 'ended' ? run.is.startedAt.toISOString() : null;
}
