/** Times at which the waiting, running and reporting of a job end. Pure. */
import type { MediaJob, MediaJobStatus } from '#crds/contract/media-job.ts';
import type { JobFacts } from '#controller/facts.ts';
import { after } from '#controller/silence-deadline.ts';
import type { Timing } from '#controller/timing.ts';

/** Facts of a MediaJob that exists and is not final. */
export interface UnfinishedFacts extends JobFacts {
  readonly mediaJob: MediaJob;
  readonly status: MediaJobStatus;
}

/** Returns whether the attempt of the status is lost: its heartbeats and outcome are ignored. */
export function isLost(status: MediaJobStatus): boolean {
  return status.reason === 'AttemptLost';
}

/** Returns whether no attempt of the job has sent a heartbeat and none is running. */
export function isWaitingForCapacity({ status, run }: UnfinishedFacts): boolean {
  const isStarted = run !== null && run.status.state !== 'waiting' && !isLost(status);
  return status.startedAt === null && !isStarted;
}

/** Returns the end of the wait for capacity. It restarts for a job that an earlier MediaJob had started. */
export function waitEnd(timing: Timing, { mediaJob }: UnfinishedFacts): Date {
  if (mediaJob.spec.firstAttempt === 1) return new Date(mediaJob.spec.waitUntil);
  return after(new Date(mediaJob.metadata.creationTimestamp), timing.jobWaitSeconds);
}

export function runEnd(timing: Timing, { status }: UnfinishedFacts): Date | null {
  return status.startedAt === null ? null : after(new Date(status.startedAt), timing.jobRunSeconds);
}

export function startDeadline(timing: Timing, facts: UnfinishedFacts): Date {
  return runEnd(timing, facts) ?? waitEnd(timing, facts);
}

export function percentDue(timing: Timing, { percentWrittenAt, now }: UnfinishedFacts): Date {
  return percentWrittenAt === null ? now : new Date(percentWrittenAt.getTime() + timing.percentIntervalMs);
}

/** Returns the time at which a run fails that cannot start; null for a run that may start. */
export function impossibleEnd(timing: Timing, { run, status }: UnfinishedFacts): Date | null {
  if (run?.status.state !== 'waiting' || isLost(status)) return null;
  const since = run.status.waitingFor?.impossibleSince;
  return since === undefined ? null : after(since, timing.impossibleStartSeconds);
}
