import { isDeepStrictEqual } from 'node:util';
import type { MediaJobClient } from '#crds/media-job-client.ts';
import type { MediaJob, MediaJobStatus } from '#crds/media-job.ts';
import { jobIdOfName } from '#crds/names.ts';
import { faultPoint } from '#crds/shared/fault-point.ts';
import type { Log } from '#crds/shared/log.ts';
import type { Decision } from '#controller/decision.ts';
import type { Facts } from '#controller/facts.ts';
import type { Heartbeats } from '#controller/heartbeats.ts';
import type { ControllerMetrics, ReconcileResult } from '#controller/metrics.ts';
import { buildRunSpec } from '#controller/run-spec.ts';
import { runName, type Runs } from '#controller/runs.ts';
import { statusAfter, statusOf, waitingStatus } from '#controller/status.ts';
import type { Timing } from '#controller/timing.ts';

export interface ApplyDeps {
  readonly mediaJobs: Pick<MediaJobClient, 'updateStatus' | 'ticket'>;
  readonly runs: Pick<Runs, 'reserve' | 'start' | 'stop' | 'release'>;
  readonly heartbeats: Pick<Heartbeats, 'url' | 'forget'>;
  readonly log: Log;
  readonly metrics: Pick<ControllerMetrics, 'attemptLost'>;
  readonly timing: Timing;
  readonly percentWrites: Map<string, Date>;
}

export interface Applied {
  readonly result: ReconcileResult;
  /** When to look again though nothing changed; null: the resync is soon enough. */
  readonly again: Date | null;
}

/** Facts of a MediaJob that is there. */
interface Present extends Facts {
  readonly mediaJob: MediaJob;
}

/** Carries a decision out: one status write at most, and only after it what others see of it. */
export async function apply(deps: ApplyDeps, facts: Facts, decision: Decision): Promise<Applied> {
  if (decision.action === 'release') return release(deps, facts);
  await Promise.all(facts.strays.map((run) => deps.runs.stop(run.name)));
  if (decision.action === 'wait') return { result: 'unchanged', again: decision.until };
  const { mediaJob } = facts;
  if (mediaJob === null)
    throw new Error(`The decision ${decision.action} needs a MediaJob, and ${facts.name} is gone.`);
  const present: Present = { ...facts, mediaJob };
  switch (decision.action) {
    case 'suspend':
    case 'show-waiting':
      return record(deps, mediaJob, statusAfter(present, decision));
    case 'mark-running':
    case 'show-percent':
      deps.percentWrites.set(facts.name, facts.now);
      return record(deps, mediaJob, statusAfter(present, decision));
    case 'start':
      return start(deps, present, decision);
    case 'lose':
      return lose(deps, present, decision);
    case 'finish':
      return finish(deps, present, decision);
  }
}

async function release(deps: ApplyDeps, { name }: Facts): Promise<Applied> {
  await deps.runs.release(name);
  deps.heartbeats.forget(jobIdOfName(name));
  deps.percentWrites.delete(name);
  return { result: 'released', again: null };
}

async function record(deps: ApplyDeps, mediaJob: MediaJob, status: MediaJobStatus): Promise<Applied> {
  if (isDeepStrictEqual(mediaJob.status, status)) return { result: 'unchanged', again: null };
  return { result: (await write(deps, mediaJob, status)) ? 'recorded' : 'conflict', again: null };
}

/** false: someone else wrote or deleted it meanwhile; the caller looks again. */
async function write(deps: ApplyDeps, mediaJob: MediaJob, status: MediaJobStatus): Promise<boolean> {
  return (await deps.mediaJobs.updateStatus(mediaJob, status)) === 'updated';
}

/**
 * A further attempt's number is written before its run starts, so that no number is ever used twice. The first
 * one of a MediaJob needs no such write: the run of its name is the record, until the status says more.
 */
async function start(deps: ApplyDeps, facts: Present, decision: Decision & { action: 'start' }): Promise<Applied> {
  const { mediaJob, name } = facts;
  const { attempt } = decision;
  const { kind, account, secretName } = mediaJob.spec;
  const request = {
    owner: { name, uid: mediaJob.metadata.uid },
    attempt,
    spec: buildRunSpec(deps.timing, { mediaJob, attempt, heartbeatUrl: deps.heartbeats.url, now: facts.now }),
    kind,
    account,
    secretName,
    ticket: () => deps.mediaJobs.ticket(name),
  };
  if (!(await deps.runs.reserve(runName(name, attempt)))) return waitForPlace(deps, facts, decision);
  if (decision.recordFirst && !(await write(deps, mediaJob, statusAfter(facts, decision)))) {
    await deps.runs.stop(runName(name, attempt));
    return { result: 'conflict', again: null };
  }
  await faultPoint('before-attempt-start');
  const answer = await deps.runs.start(request);
  await faultPoint('after-attempt-start');
  if (answer === 'no-capacity') return { result: 'no_capacity', again: decision.giveUpAt };
  if (answer === 'started') deps.log.info({ job: mediaJob.spec.jobId, attempt }, 'attempt started');
  return { result: 'started', again: facts.now };
}

async function waitForPlace(
  deps: ApplyDeps,
  { mediaJob }: Present,
  { giveUpAt }: Decision & { action: 'start' },
): Promise<Applied> {
  const { result } = await record(deps, mediaJob, waitingStatus(statusOf(mediaJob)));
  return { result: result === 'conflict' ? 'conflict' : 'no_capacity', again: giveUpAt };
}

async function lose(deps: ApplyDeps, facts: Present, decision: Decision & { action: 'lose' }): Promise<Applied> {
  const { mediaJob, run } = facts;
  const status = statusAfter(facts, decision);
  if (!(await write(deps, mediaJob, status))) return { result: 'conflict', again: null };
  deps.metrics.attemptLost(decision.cause);
  deps.log.warn(
    { job: mediaJob.spec.jobId, attempt: status.attempt, cause: decision.cause, reason: status.message },
    'attempt lost',
  );
  if (run !== null) await deps.runs.stop(run.name);
  return { result: 'attempt_lost', again: facts.now };
}

async function finish(deps: ApplyDeps, facts: Present, decision: Decision & { action: 'finish' }): Promise<Applied> {
  const { mediaJob } = facts;
  const status = statusAfter(facts, decision);
  if (!(await write(deps, mediaJob, status))) return { result: 'conflict', again: null };
  const fields = { job: mediaJob.spec.jobId, attempt: status.attempt, reason: status.reason, code: status.error?.code };
  deps.log.info(fields, 'job finished');
  await release(deps, facts);
  return { result: decision.outcome.outcome, again: null };
}
