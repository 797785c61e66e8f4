/**
 * Spans of attempts. Workers have no connection to a collector: their outcomes contain the times of their phases, after
 * their first heartbeat, and the controller records the spans when an attempt has ended.
 */
import type { WorkPhase } from '#crds/contract/run-spec.ts';
import type { MediaJob } from '#crds/contract/media-job.ts';
import { ANNOTATIONS } from '#crds/contract/names.ts';
import { isSampled, type Tracing } from '#crds/process/tracing.ts';
import type { Heartbeat } from '#controller/heartbeat-records.ts';
import { isLost } from '#controller/job-deadlines.ts';
import type { Run } from '#controller/runs.ts';

interface EndedAttempt {
  /** MediaJob before the end of the attempt was recorded. */
  readonly mediaJob: Pick<MediaJob, 'metadata' | 'spec' | 'status'>;
  readonly attempt: number;
  readonly run: Run | null;
  readonly heartbeat: Pick<Heartbeat, 'firstAt'> | null;
  readonly endedAt: Date;
  /** Empty when the worker has reported none. */
  readonly phases: readonly WorkPhase[];
  /** Error code or cause of the loss; null: it succeeded. */
  readonly error: string | null;
}

/** Returns the context of the dispatch of a MediaJob; null when its attempts are not traced. */
export function attemptParent(tracing: Tracing | null, { metadata }: Pick<MediaJob, 'metadata'>): string | null {
  const parent = metadata.annotations?.[ANNOTATIONS.traceparent];
  return tracing === null || parent === undefined || !isSampled(parent) ? null : parent;
}

/** Records the spans of an attempt and its phases. An attempt whose worker never started has none. */
export function traceAttempt(tracing: Tracing | null, ended: EndedAttempt): void {
  const { mediaJob, attempt, run, heartbeat, endedAt, phases, error } = ended;
  const parent = attemptParent(tracing, mediaJob);
  const startedAt = startOf(ended);
  if (tracing === null || parent === null || startedAt === null) return;
  const attributes = { 'mediajobs.job.id': mediaJob.spec.jobId, 'mediajobs.attempt': attempt };
  const span = tracing.start({ name: 'job attempt', kind: 'consumer', parent, startedAt });
  const beganAt = (heartbeat?.firstAt ?? startedAt).getTime();
  const timeOf = (afterMs: number): Date => new Date(Math.min(beganAt + afterMs, endedAt.getTime()));
  phases.forEach(({ phase, startMs, endMs }, index) => {
    const times = { startedAt: timeOf(startMs), endedAt: timeOf(endMs) };
    tracing
      .start({ name: `attempt ${phase}`, parent: span.traceparent, startedAt: times.startedAt })
      .end({ endedAt: times.endedAt, attributes, error: index === phases.length - 1 ? error : null });
  });
  span.end({ endedAt, attributes: { ...attributes, 'host.name': run?.node ?? undefined }, error });
}

/** Returns the start of the worker's process; null when none has started, and when the loss was recorded before. */
function startOf({ mediaJob, run, heartbeat }: EndedAttempt): Date | null {
  if (mediaJob.status !== undefined && isLost(mediaJob.status)) return null;
  if (run?.status.state === 'active' || run?.status.state === 'ended') return run.status.startedAt;
  return heartbeat?.firstAt ?? null;
}
