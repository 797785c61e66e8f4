/** The life of a MediaJob as ordered rules. Pure: facts in, decision out. */
import { isFinal, type MediaJob, type MediaJobStatus } from '#crds/media-job.ts';
import type { Reason } from '#crds/names.ts';
import type { RunOutcome } from '#crds/run-spec.ts';
import type { Decision } from '#controller/decision.ts';
import type { Facts } from '#controller/facts.ts';
import { statusNow, WAITING_REASONS } from '#controller/status.ts';
import type { Timing } from '#controller/timing.ts';

interface Check {
  readonly sentence: string;
  /** null: the rule has nothing to say. */
  readonly check: (timing: Timing, facts: Facts) => Decision | null;
}

/** Facts of a MediaJob that is there and not final. */
interface Living extends Facts {
  readonly mediaJob: MediaJob;
  readonly status: MediaJobStatus;
}

export const CHECKS: readonly Check[] = [
  { sentence: 'A MediaJob that is gone or final needs no run.', check: whenEnded },
  { sentence: 'A suspended MediaJob waits for its input.', check: living(whenSuspended) },
  { sentence: "The outcome of the current attempt is the job's end.", check: living(whenOutcome) },
  { sentence: 'A job that has run for 4 hours ends with timeout.', check: living(whenRunTooLong) },
  { sentence: 'A second attempt that ran out of memory ends the job.', check: living(whenOutOfMemoryAgain) },
  { sentence: 'A run without outcome is a lost attempt.', check: living(whenRunLost) },
  { sentence: 'A silent run is a lost attempt.', check: living(whenSilent) },
  { sentence: 'After three attempts there is no further one.', check: living(whenExhausted) },
  { sentence: 'A job that no attempt could start for 30 minutes ends with timeout.', check: living(whenWaitedTooLong) },
  { sentence: 'A job without a run starts its next attempt.', check: living(whenStartable) },
  { sentence: 'A run that finds no place says why.', check: living(whenWithoutPlace) },
  { sentence: 'The first heartbeat of an attempt makes the job run.', check: living(whenFirstHeard) },
  { sentence: 'The percent is shown as it grows, in steps.', check: living(whenPercentGrew) },
  { sentence: 'Otherwise nothing happens before the next clock strikes.', check: living(whenNothingElse) },
];

function living(check: (timing: Timing, facts: Living) => Decision | null): Check['check'] {
  return (timing, facts) => {
    const { mediaJob } = facts;
    if (mediaJob === null) return null;
    return check(timing, { ...facts, mediaJob, status: statusNow({ mediaJob, attempt: facts.attempt }) });
  };
}

function whenEnded(_timing: Timing, { mediaJob }: Facts): Decision | null {
  return mediaJob === null || isFinal(mediaJob.status) ? { action: 'release' } : null;
}

function whenSuspended(_timing: Timing, { mediaJob }: Living): Decision | null {
  return mediaJob.spec.suspend ? { action: 'suspend' } : null;
}

function whenOutcome(_timing: Timing, { run, status }: Living): Decision | null {
  if (run?.is.state !== 'ended' || isGivenUp(status)) return null;
  const { outcome } = run.is;
  return { action: 'finish', reason: reasonOf(outcome), outcome };
}

function reasonOf(outcome: RunOutcome): Reason {
  if (outcome.outcome === 'succeeded') return 'Succeeded';
  if (outcome.error.code === 'timeout') return 'RunTimeout';
  return outcome.error.code === 'internal' ? 'EngineFault' : 'FileRefused';
}

function whenRunTooLong(timing: Timing, facts: Living): Decision | null {
  const end = runEnd(timing, facts);
  if (end === null || facts.now < end) return null;
  return fail('RunTimeout', {
    code: 'timeout',
    message: `The job ran for more than ${hours(timing.jobRunSeconds)}. Split the file or ask for less work.`,
  });
}

function whenOutOfMemoryAgain(_timing: Timing, { outOfMemory }: Living): Decision | null {
  if (outOfMemory < 2) return null;
  return fail('OutOfMemory', {
    code: 'processing_failed',
    message: 'The file needs more memory than a job may use: two attempts ran out of it. Send a smaller file.',
  });
}

function whenRunLost(_timing: Timing, { run, status }: Living): Decision | null {
  if (isGivenUp(status)) return null;
  if (run?.is.state === 'lost') return { action: 'lose', cause: run.is.cause, message: run.is.message };
  if (run !== null || status.phase !== 'Running') return null;
  return { action: 'lose', cause: 'vanished', message: 'its run is gone' };
}

function whenSilent(timing: Timing, facts: Living): Decision | null {
  const end = silenceEnd(timing, facts);
  if (end === null || facts.now < end || isGivenUp(facts.status)) return null;
  return {
    action: 'lose',
    cause: 'no_heartbeat',
    message: `no heartbeat for ${timing.heartbeatTimeoutSeconds} seconds`,
  };
}

function whenExhausted(timing: Timing, { mediaJob, status }: Living): Decision | null {
  if (nextAttempt(mediaJob, status) <= timing.maxAttempts) return null;
  return fail('AttemptsExhausted', {
    code: 'internal',
    message: 'The job was started three times and each attempt was lost. Send the job again.',
  });
}

function whenWaitedTooLong(timing: Timing, facts: Living): Decision | null {
  if (!isWaitingForPlace(facts) || facts.now < waitEnd(timing, facts)) return null;
  return fail('WaitTimeout', {
    code: 'timeout',
    message: `The job waited ${timing.jobWaitSeconds / 60} minutes and no engine was free. Send the job again later.`,
  });
}

function whenStartable(timing: Timing, facts: Living): Decision | null {
  const { mediaJob, status, run } = facts;
  if (run !== null && !isGivenUp(status)) return null;
  const attempt = nextAttempt(mediaJob, status);
  const isFresh = mediaJob.status === undefined;
  const recordFirst = !isFresh && attempt !== status.attempt;
  return { action: 'start', attempt, recordFirst, giveUpAt: giveUpAt(timing, facts) };
}

/** Only a new reason is shown: the words of a scheduler change with every look. */
function whenWithoutPlace(_timing: Timing, { run, status }: Living): Decision | null {
  if (run?.is.state !== 'waiting' || run.is.for === null || status.reason === WAITING_REASONS[run.is.for.on])
    return null;
  return { action: 'show-waiting', for: run.is.for };
}

function whenFirstHeard(_timing: Timing, { heartbeat, status }: Living): Decision | null {
  if (heartbeat === null || status.phase === 'Running') return null;
  return { action: 'mark-running', startedAt: heartbeat.firstAt, percent: heartbeat.percent };
}

function whenPercentGrew(timing: Timing, facts: Living): Decision | null {
  const { heartbeat, status, now } = facts;
  if (heartbeat === null || heartbeat.percent - status.percent < timing.percentStep) return null;
  const due = percentDue(timing, facts);
  return now < due ? { action: 'wait', until: due } : { action: 'show-percent', percent: heartbeat.percent };
}

function whenNothingElse(timing: Timing, facts: Living): Decision {
  const ends = [
    silenceEnd(timing, facts),
    runEnd(timing, facts),
    isWaitingForPlace(facts) ? waitEnd(timing, facts) : null,
  ];
  const times = ends.filter((end) => end !== null).map((end) => end.getTime());
  const soonest = Math.min(...times, facts.now.getTime() + timing.heartbeatTimeoutSeconds * 1000);
  return { action: 'wait', until: new Date(soonest) };
}

function fail(reason: Reason, error: (RunOutcome & { outcome: 'failed' })['error']): Decision {
  return { action: 'finish', reason, outcome: { outcome: 'failed', error } };
}

/** The status's attempt was lost; what is still heard of it no longer counts. */
function isGivenUp(status: MediaJobStatus): boolean {
  return status.reason === 'AttemptLost';
}

/** The attempt to start next: also the recorded one, as long as nothing was heard of it and it was not given up. */
function nextAttempt(mediaJob: MediaJob, status: MediaJobStatus): number {
  const { firstAttempt } = mediaJob.spec;
  if (status.attempt < firstAttempt) return firstAttempt;
  return isGivenUp(status) ? status.attempt + 1 : status.attempt;
}

/** No attempt of the job was heard of and none has a place. */
function isWaitingForPlace({ status, run }: Living): boolean {
  const hasPlace = run !== null && run.is.state !== 'waiting' && !isGivenUp(status);
  return status.startedAt === null && !hasPlace;
}

/** A job that an earlier MediaJob had started already waits anew: its first 30 minutes are over. */
function waitEnd(timing: Timing, { mediaJob }: Living): Date {
  if (mediaJob.spec.firstAttempt === 1) return new Date(mediaJob.spec.waitUntil);
  return after(new Date(mediaJob.metadata.creationTimestamp), timing.jobWaitSeconds);
}

function runEnd(timing: Timing, { status }: Living): Date | null {
  return status.startedAt === null ? null : after(new Date(status.startedAt), timing.jobRunSeconds);
}

function giveUpAt(timing: Timing, facts: Living): Date {
  return runEnd(timing, facts) ?? waitEnd(timing, facts);
}

/** When the current run is lost unless it is heard of; null while there is none that could report. */
function silenceEnd(timing: Timing, { run, heartbeat, listeningSince }: Living): Date | null {
  if (run?.is.state !== 'active') return null;
  const last = Math.max(run.is.startedAt.getTime(), heartbeat?.lastAt.getTime() ?? 0, listeningSince.getTime());
  return after(new Date(last), timing.heartbeatTimeoutSeconds);
}

function percentDue(timing: Timing, { percentWrittenAt, now }: Living): Date {
  return percentWrittenAt === null ? now : new Date(percentWrittenAt.getTime() + timing.percentIntervalMs);
}

function after(start: Date, seconds: number): Date {
  return new Date(start.getTime() + seconds * 1000);
}

function hours(seconds: number): string {
  return `${seconds / 3600} hours`;
}
