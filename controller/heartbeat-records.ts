/** Heartbeats of attempts, of each job those of the newest attempt that reported. */
import type { HeartbeatBody } from '#crds/contract/run-spec.ts';

export interface Heartbeat {
  readonly firstAt: Date;
  readonly lastAt: Date;
  /** 0 to 99; never decreases within an attempt. */
  readonly percent: number;
}

export interface RecordedHeartbeat extends Heartbeat {
  readonly attempt: number;
  /** Time of the last callback. */
  readonly calledBackAt: Date;
}

/** Minimum interval between callbacks for a job, in milliseconds. A worker sends at most two heartbeats a second. */
const MIN_CALLBACK_MS = 250;

/** Records a heartbeat. Returns whether a callback is due. */
export function recordHeartbeat(
  recorded: Map<string, RecordedHeartbeat>,
  { jobId, attempt, percent }: HeartbeatBody,
  now: Date,
): boolean {
  const before = recorded.get(jobId);
  const same = before?.attempt === attempt ? before : null;
  const isCallbackDue = same === null || Math.abs(now.getTime() - same.calledBackAt.getTime()) >= MIN_CALLBACK_MS;
  recorded.set(jobId, {
    attempt,
    firstAt: same?.firstAt ?? now,
    lastAt: now,
    percent: Math.max(percent, same?.percent ?? 0),
    calledBackAt: isCallbackDue ? now : same.calledBackAt,
  });
  return isCallbackDue;
}

/** Returns the time since which an active run is silent: its last heartbeat, or when one could be received first. */
export function silentSince(
  run: { readonly startedAt: Date },
  { heartbeat, listeningSince }: { heartbeat: Heartbeat | null; listeningSince: Date },
): Date {
  return new Date(Math.max(run.startedAt.getTime(), heartbeat?.lastAt.getTime() ?? 0, listeningSince.getTime()));
}
