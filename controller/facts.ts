import type { MediaJobClient } from '#crds/media-job-client.ts';
import type { MediaJob } from '#crds/media-job.ts';
import type { Clock } from '#crds/shared/clock.ts';
import type { Heartbeat, Heartbeats } from '#controller/heartbeats.ts';
import { statusOf } from '#controller/status.ts';
import { isUnderWay, runName, type Run, type Runs } from '#controller/runs.ts';

/** All that a decision about a MediaJob may depend on, read at one moment. */
export interface Facts {
  readonly now: Date;
  readonly name: string;
  /** null: deleted. */
  readonly mediaJob: MediaJob | null;
  /** The current or last one: as the status names it, or of a first run that the status does not name yet. */
  readonly attempt: number;
  /** The run of that attempt; null when there is none. */
  readonly run: Run | null;
  /** Runs under way that are no longer this MediaJob's: earlier attempts, or of a MediaJob that had the name before. */
  readonly strays: readonly Run[];
  /** Attempts of this MediaJob that ran out of memory. */
  readonly outOfMemory: number;
  /** Of the current attempt. */
  readonly heartbeat: Heartbeat | null;
  /** Nobody can have reported before. */
  readonly listeningSince: Date;
  /** When the percent was last written to the status; null: not by this process. */
  readonly percentWrittenAt: Date | null;
}

export interface FactsDeps {
  readonly clock: Clock;
  readonly mediaJobs: Pick<MediaJobClient, 'get'>;
  readonly runs: Pick<Runs, 'observe'>;
  readonly heartbeats: Pick<Heartbeats, 'last' | 'since'>;
  readonly percentWrites: ReadonlyMap<string, Date>;
}

/** `fresh`: the runs as they are at this moment. */
export async function gatherFacts(deps: FactsDeps, name: string, fresh = false): Promise<Facts> {
  const [mediaJob, runs] = await Promise.all([deps.mediaJobs.get(name), deps.runs.observe(name, fresh)]);
  const own = runs.filter((run) => run.owner.uid === mediaJob?.metadata.uid);
  const attempt = mediaJob === null ? 0 : currentAttempt(mediaJob, own);
  const run = own.find((candidate) => candidate.name === runName(name, attempt)) ?? null;
  return {
    now: deps.clock.now(),
    name,
    mediaJob,
    attempt,
    run,
    strays: runs.filter((candidate) => candidate !== run && isUnderWay(candidate)),
    outOfMemory: own.filter(({ is }) => is.state === 'lost' && is.cause === 'out_of_memory').length,
    heartbeat: mediaJob === null ? null : deps.heartbeats.last(mediaJob.spec.jobId, attempt),
    listeningSince: deps.heartbeats.since,
    percentWrittenAt: deps.percentWrites.get(name) ?? null,
  };
}

function currentAttempt(mediaJob: MediaJob, own: readonly Run[]): number {
  const { attempt } = statusOf(mediaJob);
  const { firstAttempt } = mediaJob.spec;
  return attempt < firstAttempt && own.some((run) => run.attempt === firstAttempt) ? firstAttempt : attempt;
}
