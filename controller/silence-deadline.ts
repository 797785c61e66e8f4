/** Times at which a run without heartbeats is overdue and lost. Pure. */
import type { JobFacts } from '#controller/facts.ts';
import { silentSince } from '#controller/heartbeat-records.ts';
import type { MediaJobStatus } from '#crds/contract/media-job.ts';
import type { Timing } from '#controller/timing.ts';

type SilenceFacts = Pick<JobFacts, 'run' | 'heartbeat' | 'listeningSince' | 'silenceRule' | 'now'> & {
  readonly status: MediaJobStatus;
};

/** Returns the time at which the current run is lost without a further heartbeat; null while no run is active. */
export function silenceEnd(timing: Timing, facts: SilenceFacts): Date | null {
  const { run, heartbeat, listeningSince, silenceRule } = facts;
  if (run?.status.state !== 'active') return null;
  const since = silentSince(run.status, { heartbeat, listeningSince });
  if (!run.status.isOnReadyNode) return after(since, timing.heartbeatTimeoutSeconds);
  if (silenceRule.isSuspended || isUnheard(facts)) return after(since, timing.trustedSilenceSeconds);
  const { resumedAt } = silenceRule;
  const counted = resumedAt !== null && resumedAt > since ? resumedAt : since;
  return after(counted, timing.heartbeatTimeoutSeconds);
}

/** Returns whether the current run has been silent for the timeout, whether or not it is lost by that. */
export function isOverdue(timing: Timing, { run, heartbeat, listeningSince, now }: SilenceFacts): boolean {
  if (run?.status.state !== 'active') return false;
  return now >= after(silentSince(run.status, { heartbeat, listeningSince }), timing.heartbeatTimeoutSeconds);
}

/** Returns the time for which an active run has been silent, in whole seconds. */
export function silentSeconds({ run, heartbeat, listeningSince, now }: SilenceFacts): number {
  if (run?.status.state !== 'active') return 0;
  return Math.floor((now.getTime() - silentSince(run.status, { heartbeat, listeningSince }).getTime()) / 1000);
}

/**
 * Returns whether the current run has never been heard. Without DNS a new pod does not find the controller, while those
 * that have a connection keep it: the node is believed as when most attempts are silent.
 */
export function isUnheard({ heartbeat, status }: Pick<SilenceFacts, 'heartbeat' | 'status'>): boolean {
  return heartbeat === null && status.phase !== 'Running';
}

/** Returns the time after a number of seconds. */
export function after(start: Date, seconds: number): Date {
  return new Date(start.getTime() + seconds * 1000);
}
