import { isDeepStrictEqual } from 'node:util';
import type { MediaJobClient } from '#crds/media-jobs/media-job-client.ts';
import type { MediaJob, MediaJobStatus } from '#crds/contract/media-job.ts';
import { jobIdOfName, LABELS } from '#crds/contract/names.ts';
import { faultPoint } from '#crds/process/fault-point.ts';
import type { Log } from '#crds/process/log.ts';
import type { Tracing } from '#crds/process/tracing.ts';
import type { Decision } from '#controller/decision.ts';
import type { JobFacts } from '#controller/facts.ts';
import type { Heartbeats } from '#controller/worker-port-server.ts';
import type { ControllerMetrics, ReconcileResult } from '#controller/metrics.ts';
import { buildRunSpec } from '#controller/run-spec.ts';
import { runName, type Runs } from '#controller/runs.ts';
import { attemptParent, traceAttempt } from '#controller/trace-attempt.ts';
import { statusAfter, statusOf, waitingStatus } from '#controller/status.ts';
import type { Timing } from '#controller/timing.ts';

export interface ApplyDeps {
  readonly mediaJobs: Pick<MediaJobClient, 'updateStatus' | 'ticket'>;
  readonly runs: Pick<Runs, 'reserve' | 'start' | 'stop' | 'release'>;
  readonly heartbeats: Pick<Heartbeats, 'url' | 'forget'>;
  readonly log: Log;
  /** null: no spans are recorded. */
  readonly tracing: Tracing | null;
  readonly metrics: Pick<ControllerMetrics, 'attemptLost'>;
  readonly timing: Timing;
  readonly percentWrites: Map<string, Date>;
}

export interface Applied {
  readonly result: ReconcileResult;
  /** Time of the next reconciliation without an event; null: the next resync. */
  readonly requeueAt: Date | null;
}

interface ExistingFacts extends JobFacts {
  readonly mediaJob: MediaJob;
}

/** Applies a decision: at most one status write, and other visible effects only after it. */
export async function apply(deps: ApplyDeps, facts: JobFacts, decision: Decision): Promise<Applied> {
  if (decision.action === 'release') return release(deps, facts);
  if (!facts.isUnclaimed) await Promise.all(facts.strays.map((run) => deps.runs.stop(run.name)));
  if (decision.action === 'wait') return { result: 'unchanged', requeueAt: decision.until };
  const { mediaJob } = facts;
  if (mediaJob === null)
    throw new Error(`The decision ${decision.action} requires a MediaJob, and ${facts.name} is deleted.`);
  const existing: ExistingFacts = { ...facts, mediaJob };
  switch (decision.action) {
    case 'suspend':
    case 'show-waiting':
    case 'show-silence':
      return record(deps, mediaJob, statusAfter(existing, decision));
    case 'mark-running':
    case 'show-percent':
      return recordPercent(deps, existing, statusAfter(existing, decision));
    case 'start':
      return start(deps, existing, decision);
    case 'lose':
      return lose(deps, existing, decision);
    case 'finish':
      return finish(deps, existing, decision);
  }
}

async function release(deps: ApplyDeps, { name, run }: JobFacts): Promise<Applied> {
  await deps.runs.release(name, run?.status.state === 'ended' ? run.name : undefined);
  deps.heartbeats.forget(jobIdOfName(name));
  deps.percentWrites.delete(name);
  return { result: 'released', requeueAt: null };
}

async function recordPercent(deps: ApplyDeps, facts: ExistingFacts, status: MediaJobStatus): Promise<Applied> {
  const applied = await record(deps, facts.mediaJob, status);
  // After a conflict the percentage is not delayed.
  if (applied.result !== 'conflict') deps.percentWrites.set(facts.name, facts.now);
  return applied;
}

async function record(deps: ApplyDeps, mediaJob: MediaJob, status: MediaJobStatus): Promise<Applied> {
  if (isDeepStrictEqual(mediaJob.status, status)) return { result: 'unchanged', requeueAt: null };
  return { result: (await write(deps, mediaJob, status)) ? 'recorded' : 'conflict', requeueAt: null };
}

/** Writes the status. Returns false when the MediaJob was changed or deleted concurrently; the caller requeues it. */
async function write(deps: ApplyDeps, mediaJob: MediaJob, status: MediaJobStatus): Promise<boolean> {
  return (await deps.mediaJobs.updateStatus(mediaJob, status)) === 'updated';
}

/**
 * Starts an attempt. The number of a further attempt is written before its run starts, so that no number is used twice.
 * The first attempt of a MediaJob needs no write: its run identifies it until the status names it.
 */
async function start(
  deps: ApplyDeps,
  facts: ExistingFacts,
  decision: Decision & { action: 'start' },
): Promise<Applied> {
  const { mediaJob, name } = facts;
  const { attempt } = decision;
  const { kind, account, secretName } = mediaJob.spec;
  const request = {
    owner: { name, uid: mediaJob.metadata.uid },
    attempt,
    spec: buildRunSpec(deps.timing, {
      mediaJob,
      attempt,
      heartbeatUrl: deps.heartbeats.url,
      now: facts.now,
      isTraced: attemptParent(deps.tracing, mediaJob) !== null,
    }),
    kind,
    account,
    secretName,
    dispatch: mediaJob.metadata.labels[LABELS.dispatch] ?? '',
    ticket: () => deps.mediaJobs.ticket(name),
  };
  if (!(await deps.runs.reserve(runName(name, attempt), { account, kind })))
    return waitForCapacity(deps, facts, decision);
  if (decision.recordFirst && !(await write(deps, mediaJob, statusAfter(facts, decision)))) {
    await deps.runs.stop(runName(name, attempt));
    return { result: 'conflict', requeueAt: null };
  }
  await faultPoint('before-attempt-start');
  const outcome = await deps.runs.start(request);
  await faultPoint('after-attempt-start');
  // The run has a slot and waits for a standby. No event says when one is free.
  if (outcome === 'no-capacity')
    return { result: 'no_capacity', requeueAt: new Date(facts.now.getTime() + deps.timing.capacityRetryMs) };
  if (outcome === 'started') deps.log.info({ job_id: mediaJob.spec.jobId, attempt }, 'attempt started');
  return { result: 'started', requeueAt: facts.now };
}

async function waitForCapacity(
  deps: ApplyDeps,
  { mediaJob }: ExistingFacts,
  { deadline }: Decision & { action: 'start' },
): Promise<Applied> {
  const { result } = await record(deps, mediaJob, waitingStatus(statusOf(mediaJob)));
  return { result: result === 'conflict' ? 'conflict' : 'no_capacity', requeueAt: deadline };
}

async function lose(deps: ApplyDeps, facts: ExistingFacts, decision: Decision & { action: 'lose' }): Promise<Applied> {
  const { mediaJob, run } = facts;
  const status = statusAfter(facts, decision);
  if (!(await write(deps, mediaJob, status))) return { result: 'conflict', requeueAt: null };
  deps.metrics.attemptLost(decision.cause);
  traceAttempt(deps.tracing, { ...facts, endedAt: facts.now, phases: [], error: decision.cause });
  deps.log.warn(
    { job_id: mediaJob.spec.jobId, attempt: status.attempt, cause: decision.cause, message: status.message },
    'attempt lost',
  );
  if (run !== null) await deps.runs.stop(run.name);
  return { result: 'attempt_lost', requeueAt: facts.now };
}

async function finish(
  deps: ApplyDeps,
  facts: ExistingFacts,
  decision: Decision & { action: 'finish' },
): Promise<Applied> {
  const { mediaJob } = facts;
  const status = statusAfter(facts, decision);
  if (!(await write(deps, mediaJob, status))) return { result: 'conflict', requeueAt: null };
  const { phases = [] } = decision.outcome;
  traceAttempt(deps.tracing, { ...facts, endedAt: facts.now, phases, error: status.error?.code ?? null });
  const fields = { job_id: mediaJob.spec.jobId, attempt: status.attempt };
  const { contradiction } = decision;
  if (contradiction !== undefined) deps.log.warn({ ...fields, contradiction }, 'worker report rejected');
  deps.log.info({ ...fields, reason: status.reason, code: status.error?.code }, 'job finished');
  await release(deps, facts);
  return { result: decision.outcome.outcome, requeueAt: null };
}
