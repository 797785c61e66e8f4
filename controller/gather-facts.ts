import type { MediaJobClient } from '#crds/media-jobs/media-job-client.ts';
import type { MediaJob } from '#crds/contract/media-job.ts';
import { LABELS } from '#crds/contract/names.ts';
import type { Clock } from '#crds/process/clock.ts';
import type { SilenceRule } from '#controller/collective-silence.ts';
import type { JobFacts } from '#controller/facts.ts';
import type { Heartbeats } from '#controller/worker-port-server.ts';
import { statusOf } from '#controller/status.ts';
import { isUnfinishedRun, runName, type Run, type Runs } from '#controller/runs.ts';

export interface FactsDeps {
  readonly clock: Clock;
  readonly mediaJobs: Pick<MediaJobClient, 'get' | 'isUnclaimed'>;
  readonly runs: Pick<Runs, 'observe'>;
  readonly heartbeats: Pick<Heartbeats, 'last' | 'since' | 'outcome'>;
  readonly percentWrites: ReadonlyMap<string, Date>;
  readonly silenceRule: () => SilenceRule;
}

/** Reads the facts. `fresh`: reads the runs from their source instead of a cache. */
export async function gatherFacts(deps: FactsDeps, name: string, fresh = false): Promise<JobFacts> {
  const [mediaJob, runs] = await Promise.all([deps.mediaJobs.get(name), deps.runs.observe(name, fresh)]);
  const own = runs.filter((run) => run.owner.uid === mediaJob?.metadata.uid);
  const attempt = mediaJob === null ? 0 : currentAttempt(mediaJob, own);
  const found = own.find((candidate) => candidate.name === runName(name, attempt)) ?? null;
  const run = found === null || mediaJob === null ? found : withReport(deps, found, mediaJob);
  return {
    now: deps.clock.now(),
    name,
    mediaJob,
    // An earlier version has made it, and the recorder has not labeled it yet.
    isUnclaimed: mediaJob === null && runs.some(isUnfinishedRun) && (await deps.mediaJobs.isUnclaimed(name)),
    attempt,
    run,
    strays: runs.filter((candidate) => candidate !== found && isUnfinishedRun(candidate)),
    outOfMemory: own.filter(({ status }) => status.state === 'lost' && status.cause === 'out_of_memory').length,
    heartbeat: mediaJob === null ? null : deps.heartbeats.last(mediaJob.spec.jobId, attempt),
    listeningSince: deps.heartbeats.since,
    silenceRule: deps.silenceRule(),
    percentWrittenAt: deps.percentWrites.get(name) ?? null,
  };
}

/** Returns the run as ended when its worker has reported its outcome: the node reports the end of a pod later. */
function withReport({ heartbeats }: Pick<FactsDeps, 'heartbeats'>, run: Run, { metadata, spec }: MediaJob): Run {
  if (run.status.state !== 'active') return run;
  const outcome = heartbeats.outcome(spec.jobId, run.attempt, metadata.labels[LABELS.dispatch] ?? '');
  return outcome === null ? run : { ...run, status: { state: 'ended', startedAt: run.status.startedAt, outcome } };
}

function currentAttempt(mediaJob: MediaJob, own: readonly Run[]): number {
  const { attempt } = statusOf(mediaJob);
  const { firstAttempt } = mediaJob.spec;
  return attempt < firstAttempt && own.some((run) => run.attempt === firstAttempt) ? firstAttempt : attempt;
}
