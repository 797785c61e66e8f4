/** Life cycle of a MediaJob as ordered rules. Pure: facts in, decision out. */
import { findContradiction } from '#crds/contract/find-contradiction.ts';
import { isFinal, type MediaJob, type MediaJobSpec, type MediaJobStatus } from '#crds/contract/media-job.ts';
import type { Reason } from '#crds/contract/names.ts';
import type { RunOutcome } from '#crds/contract/run-spec.ts';
import type { Decision } from '#controller/decision.ts';
import type { JobFacts } from '#controller/facts.ts';
import {
  impossibleEnd,
  isLost,
  isWaitingForCapacity,
  percentDue,
  runEnd,
  startDeadline,
  waitEnd,
  type UnfinishedFacts,
} from '#controller/job-deadlines.ts';
import { after, isOverdue, silenceEnd, silentSeconds } from '#controller/silence-deadline.ts';
import { statusNow, WAITING_REASONS } from '#controller/status.ts';
import type { Timing } from '#controller/timing.ts';

interface MediaJobCheck {
  /** Rule in words. */
  readonly sentence: string;
  /** Returns the decision; null when the rule does not apply. */
  readonly check: (timing: Timing, facts: JobFacts) => Decision | null;
}

/** Rules in order of precedence. */
export const CHECKS: readonly MediaJobCheck[] = [
  { sentence: 'The runs of a MediaJob that the recorder has not claimed yet continue.', check: whenUnclaimed },
  { sentence: 'The runs of a deleted or final MediaJob are released.', check: whenEnded },
  { sentence: 'A suspended MediaJob waits for its input.', check: forUnfinished(whenSuspended) },
  { sentence: 'The outcome of the current attempt finishes the job.', check: forUnfinished(whenOutcome) },
  { sentence: 'A job that has run for `jobRunSeconds` fails with timeout.', check: forUnfinished(whenRunTooLong) },
  { sentence: 'A job fails when a second attempt runs out of memory.', check: forUnfinished(whenOutOfMemoryAgain) },
  { sentence: 'An attempt whose run ended without an outcome is lost.', check: forUnfinished(whenRunLost) },
  {
    sentence:
      'An attempt without a heartbeat for `heartbeatTimeoutSeconds` is lost, one that was never heard by a trusted node later.',
    check: forUnfinished(whenSilent),
  },
  {
    sentence: 'A job fails when `maxAttempts` attempts are lost. Up to `maxDisruptions` evictions do not count.',
    check: forUnfinished(whenExhausted),
  },
  {
    sentence: 'A job that has waited `jobWaitSeconds` for capacity fails with timeout.',
    check: forUnfinished(whenWaitedTooLong),
  },
  {
    sentence: 'A job whose run the installation cannot start fails after `impossibleStartSeconds`.',
    check: forUnfinished(whenImpossible),
  },
  { sentence: 'A job without a run starts its next attempt.', check: forUnfinished(whenStartable) },
  { sentence: 'The status shows why a run cannot start.', check: forUnfinished(whenWithoutCapacity) },
  {
    sentence: 'The status shows that heartbeats are missing while that rule is suspended.',
    check: forUnfinished(whenSuspendedSilence),
  },
  { sentence: 'The first heartbeat of an attempt sets the phase to Running.', check: forUnfinished(whenFirstHeard) },
  { sentence: 'The status shows the percentage, in steps.', check: forUnfinished(whenPercentGrew) },
  { sentence: 'Otherwise wait for the next deadline.', check: forUnfinished(whenNothingElse) },
];

/** Returns a check that does not apply to an absent MediaJob. */
function forUnfinished(check: (timing: Timing, facts: UnfinishedFacts) => Decision | null): MediaJobCheck['check'] {
  return (timing, facts) => {
    const { mediaJob } = facts;
    if (mediaJob === null) return null;
    return check(timing, { ...facts, mediaJob, status: statusNow({ mediaJob, attempt: facts.attempt }) });
  };
}

/** Time until an unclaimed MediaJob is read again, in seconds. */
const CLAIM_SECONDS = 10;

function whenUnclaimed(_timing: Timing, { isUnclaimed, now }: JobFacts): Decision | null {
  return isUnclaimed ? { action: 'wait', until: after(now, CLAIM_SECONDS) } : null;
}

function whenEnded(_timing: Timing, { mediaJob }: JobFacts): Decision | null {
  return mediaJob === null || isFinal(mediaJob.status) ? { action: 'release' } : null;
}

function whenSuspended(_timing: Timing, { mediaJob }: UnfinishedFacts): Decision | null {
  return mediaJob.spec.suspend ? { action: 'suspend' } : null;
}

function whenOutcome(_timing: Timing, { mediaJob, run, status }: UnfinishedFacts): Decision | null {
  if (run?.status.state !== 'ended' || isLost(status)) return null;
  const { outcome } = run.status;
  const contradiction = contradictionOf(outcome, mediaJob.spec);
  if (contradiction !== null) return { ...fail('EngineFault', INTERNAL_ERROR), contradiction };
  return { action: 'finish', reason: reasonOf(outcome), outcome };
}

/** Returns the rule that a report for another job or a false report violates; null when there is none. */
function contradictionOf(outcome: RunOutcome, spec: MediaJobSpec): string | null {
  return outcome.outcome === 'succeeded' ? findContradiction(outcome.report, { ...spec, outputSize: null }) : null;
}

const INTERNAL_ERROR = {
  code: 'internal',
  message: 'The service failed while it processed the file. Send the job again.',
} as const;

function reasonOf(outcome: RunOutcome): Reason {
  if (outcome.outcome === 'succeeded') return 'Succeeded';
  if (outcome.error.code === 'timeout') return 'RunTimeout';
  return outcome.error.code === 'internal' ? 'EngineFault' : 'FileRefused';
}

function whenRunTooLong(timing: Timing, facts: UnfinishedFacts): Decision | null {
  const end = runEnd(timing, facts);
  if (end === null || facts.now < end) return null;
  return fail('RunTimeout', {
    code: 'timeout',
    message: `The job ran for more than ${hours(timing.jobRunSeconds)}. Split the file or ask for less work.`,
  });
}

function whenOutOfMemoryAgain(_timing: Timing, { outOfMemory }: UnfinishedFacts): Decision | null {
  if (outOfMemory < 2) return null;
  return fail('OutOfMemory', {
    code: 'processing_failed',
    message: 'The file needs more memory than a job may use: two attempts ran out of it. Send a smaller file.',
  });
}

function whenRunLost(_timing: Timing, { run, status }: UnfinishedFacts): Decision | null {
  if (isLost(status)) return null;
  if (run?.status.state === 'lost') return { action: 'lose', cause: run.status.cause, message: run.status.message };
  if (run !== null || status.phase !== 'Running') return null;
  return { action: 'lose', cause: 'vanished', message: 'its run no longer exists' };
}

function whenSilent(timing: Timing, facts: UnfinishedFacts): Decision | null {
  const end = silenceEnd(timing, facts);
  if (end === null || facts.now < end || isLost(facts.status)) return null;
  return { action: 'lose', cause: 'no_heartbeat', message: `no heartbeat for ${silentSeconds(facts)} seconds` };
}

function whenExhausted(timing: Timing, { mediaJob, status }: UnfinishedFacts): Decision | null {
  const lost = nextAttempt(mediaJob, status) - 1;
  if (lost - Math.min(status.disruptions ?? 0, timing.maxDisruptions) < timing.maxAttempts) return null;
  return fail('AttemptsExhausted', {
    code: 'internal',
    message: `The job was started ${lost} times and each attempt was lost. Send the job again.`,
  });
}

function whenWaitedTooLong(timing: Timing, facts: UnfinishedFacts): Decision | null {
  if (!isWaitingForCapacity(facts) || facts.now < waitEnd(timing, facts)) return null;
  return fail('WaitTimeout', {
    code: 'timeout',
    message: `The job waited ${timing.jobWaitSeconds / 60} minutes and no engine was free. Send the job again later.`,
  });
}

function whenImpossible(timing: Timing, facts: UnfinishedFacts): Decision | null {
  const end = impossibleEnd(timing, facts);
  if (end === null || facts.now < end) return null;
  return fail('StartImpossible', {
    code: 'internal',
    message: 'The service could not start the job: its installation has a fault. Send the job again later.',
  });
}

function whenStartable(timing: Timing, facts: UnfinishedFacts): Decision | null {
  const { mediaJob, status, run } = facts;
  if (run !== null && !isLost(status)) return null;
  const attempt = nextAttempt(mediaJob, status);
  const isFresh = mediaJob.status === undefined;
  const recordFirst = !isFresh && attempt !== status.attempt;
  return { action: 'start', attempt, recordFirst, deadline: startDeadline(timing, facts) };
}

/** Writes only a new reason: the scheduler's message differs at each read. */
function whenWithoutCapacity(_timing: Timing, { run, status }: UnfinishedFacts): Decision | null {
  if (
    run?.status.state !== 'waiting' ||
    run.status.waitingFor === null ||
    status.reason === WAITING_REASONS[run.status.waitingFor.reason]
  )
    return null;
  return { action: 'show-waiting', waitingFor: run.status.waitingFor };
}

function whenSuspendedSilence(timing: Timing, facts: UnfinishedFacts): Decision | null {
  if (facts.status.reason === 'HeartbeatsMissing' || isLost(facts.status) || !isOverdue(timing, facts)) return null;
  return { action: 'show-silence' };
}

function whenFirstHeard(timing: Timing, facts: UnfinishedFacts): Decision | null {
  const { heartbeat, status } = facts;
  const isHeardAgain = status.reason === 'HeartbeatsMissing' && !isOverdue(timing, facts);
  if (heartbeat === null || (status.phase === 'Running' && !isHeardAgain)) return null;
  return { action: 'mark-running', startedAt: heartbeat.firstAt, percent: heartbeat.percent };
}

function whenPercentGrew(timing: Timing, facts: UnfinishedFacts): Decision | null {
  const { heartbeat, status, now } = facts;
  if (heartbeat === null || heartbeat.percent - status.percent < timing.percentStep) return null;
  const due = percentDue(timing, facts);
  return now < due ? { action: 'wait', until: due } : { action: 'show-percent', percent: heartbeat.percent };
}

function whenNothingElse(timing: Timing, facts: UnfinishedFacts): Decision {
  const ends = [
    silenceEnd(timing, facts),
    runEnd(timing, facts),
    impossibleEnd(timing, facts),
    isWaitingForCapacity(facts) ? waitEnd(timing, facts) : null,
  ];
  const times = ends.filter((end) => end !== null).map((end) => end.getTime());
  const soonest = Math.min(...times, facts.now.getTime() + timing.heartbeatTimeoutSeconds * 1000);
  return { action: 'wait', until: new Date(soonest) };
}

function fail(reason: Reason, error: (RunOutcome & { outcome: 'failed' })['error']): Decision & { action: 'finish' } {
  return { action: 'finish', reason, outcome: { outcome: 'failed', error } };
}

/** Returns the attempt to start next: the recorded one if it has not started and is not lost. */
function nextAttempt(mediaJob: MediaJob, status: MediaJobStatus): number {
  const { firstAttempt } = mediaJob.spec;
  if (status.attempt < firstAttempt) return firstAttempt;
  return isLost(status) ? status.attempt + 1 : status.attempt;
}

function hours(seconds: number): string {
  return `${seconds / 3600} hours`;
}
