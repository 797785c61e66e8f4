import { isDeepStrictEqual } from 'node:util';
import type { MediaJobClient } from '#crds/media-job-client.ts';
import type { MediaJob, MediaJobStatus } from '#crds/media-job.ts';
import { jobIdOfName } from '#crds/names.ts';
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
  readonly heartbeats: Pick<Heartbeats, 'url' | 'token' | 'forget'>;
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

const TICKET_RETRY_MS = 50;
const TICKET_MS = 10_000;

/** Facts of a MediaJob that is there. */
interface Present extends Facts {
  readonly mediaJob: MediaJob;
}

/** Carries a decision out: one status write at most, and only after it what others see of it. */
export async function apply(deps: ApplyDeps, facts: Facts, decision: Decision): Promise<Applied> {
  await Promise.all(facts.strays.map((run) => deps.runs.stop(run.name)));
  if (decision.action === 'release') return release(deps, facts);
  if (decision.action === 'wait') return { result: 'unchanged', again: decision.until };
  const { mediaJob } = facts;
  if (mediaJob === null)
    throw new Error(`The decision ${decision.action} needs a MediaJob, and ${facts.name} is gone.`);
  const present: Present = { ...facts, mediaJob };
  switch (decision.action) {
    case 'suspend':
    case 'show-waiting':
    case 'mark-running':
      return record(deps, mediaJob, statusAfter(present, decision));
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

/** The attempt's number is written before the run starts, so that no number is ever used twice. */
async function start(deps: ApplyDeps, facts: Present, decision: Decision & { action: 'start' }): Promise<Applied> {
  const { mediaJob, name } = facts;
  const { attempt } = decision;
  const spec = await runSpec(deps, facts, attempt);
  if (spec === null) return { result: 'no_ticket', again: new Date(facts.now.getTime() + TICKET_RETRY_MS) };
  const { kind, account } = mediaJob.spec;
  const request = { owner: { name, uid: mediaJob.metadata.uid }, attempt, spec, kind, account };
  if (!decision.recorded) {
    if (!(await deps.runs.reserve(runName(name, attempt)))) return waitForPlace(deps, facts, decision);
    if (!(await write(deps, mediaJob, statusAfter(facts, decision)))) {
      await deps.runs.stop(runName(name, attempt));
      return { result: 'conflict', again: null };
    }
  }
  const answer = await deps.runs.start(request);
  if (answer === 'no-capacity') return { result: 'no_capacity', again: decision.giveUpAt };
  if (answer === 'started') deps.log.info({ job: mediaJob.spec.jobId, attempt }, 'attempt started');
  return { result: 'started', again: facts.now };
}

/** null: the ticket is made after its MediaJob and is not there yet. */
async function runSpec(
  deps: ApplyDeps,
  { mediaJob, now }: Present,
  attempt: number,
): Promise<ReturnType<typeof buildRunSpec> | null> {
  const ticket = await deps.mediaJobs.ticket(mediaJob.metadata.name);
  if (ticket === null && now.getTime() - Date.parse(mediaJob.metadata.creationTimestamp) < TICKET_MS) return null;
  if (ticket === null) throw new Error(`The MediaJob ${mediaJob.metadata.name} has no ticket.`);
  const heartbeat = { url: deps.heartbeats.url, token: deps.heartbeats.token(mediaJob.spec.jobId, attempt) };
  return buildRunSpec(deps.timing, { mediaJob, ticket, attempt, heartbeat, now });
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
