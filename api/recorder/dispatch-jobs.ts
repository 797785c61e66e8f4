/**
 * Dispatch of job rows as MediaJobs: round robin between accounts, a bounded number at a time. A row whose MediaJob is
 * missing (never created, lost with its store, deleted by hand) gets a new one with a new nonce.
 */
import type { Dependencies } from '#api/dependencies.ts';
import type { Job } from '#api/jobs/job.ts';
import { selectUndispatchedJobs, setDispatches } from '#api/jobs/job-progress-rows.ts';
import { heartbeatToken } from '#crds/contract/heartbeat-token.ts';
import { kindOfName } from '#crds/catalogue/formats.ts';
import { isFinal, type JobTicket, type MediaJob, type MediaJobSpec } from '#crds/contract/media-job.ts';
import { unnamedWorkOrder } from '#crds/contract/work-order.ts';
import type { MediaJobClient } from '#crds/media-jobs/media-job-client.ts';
import { jobTraceparent } from '#crds/contract/job-trace.ts';
import { ANNOTATIONS, jobIdOfName, LABELS, mediaJobName } from '#crds/contract/names.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';
import { faultPoint } from '#crds/process/fault-point.ts';
import type { OpenSpan } from '#crds/process/tracing.ts';

export interface DispatchDeps extends Pick<Dependencies, 'database' | 'log' | 'tracing'> {
  readonly mediaJobs: MediaJobClient;
  /** Returns a random word of a-z and 0-9. */
  readonly newNonce: () => string;
  /** Key of the workers' heartbeat tokens, shared with the controller. */
  readonly heartbeatKey: Buffer;
  /**
   * Maximum number of unfinished MediaJobs; accounts that have none may exceed it by `EXTRA_SHARE`. MediaJobs whose input
   * is still being fetched have the same limit of their own.
   */
  readonly maxUnfinishedJobs: number;
  /** Names of MediaJobs whose creation is in progress. A ticket is created after its MediaJob. */
  readonly beingCreated: Set<string>;
}

/** Share of `maxUnfinishedJobs` that may be exceeded, by accounts that have no unfinished MediaJob. */
const EXTRA_SHARE = 0.05;

/** Maximum number of attempts of a job, with those that do not count. */
const MAX_ATTEMPTS = LIMITS.jobAttempts + LIMITS.jobDisruptions;

/** Maximum number of jobs of one iteration. */
const MAX_BATCH = 200;

/** MediaJobs created concurrently: most of the time each waits for responses. */
const CONCURRENCY = 8;

/** Creates missing MediaJobs. Returns the number of jobs that lacked one. */
export async function dispatchJobs(deps: DispatchDeps): Promise<number> {
  const present = await deps.mediaJobs.list();
  const ids = present.map((mediaJob) => jobIdOfName(mediaJob.metadata.name));
  const unfinished = present.filter((mediaJob) => !isFinal(mediaJob.status));
  let dispatched = 0;
  for (const inputStored of [true, false]) {
    // A slow server of input.url must not keep a slot from a job that could run.
    const sameState = unfinished.filter(({ spec }) => spec.suspend !== inputStored);
    dispatched += await dispatchWithin(deps, { ids, unfinished: sameState, inputStored });
  }
  return dispatched;
}

interface DispatchInput {
  /** Ids of the jobs that have a MediaJob. */
  readonly ids: readonly string[];
  /** Unfinished MediaJobs that count against the limit. */
  readonly unfinished: readonly MediaJob[];
  /** Whether jobs are dispatched whose input is stored, or those whose input is still to be fetched. */
  readonly inputStored: boolean;
}

async function dispatchWithin(deps: DispatchDeps, { ids, unfinished, inputStored }: DispatchInput): Promise<number> {
  const freeCapacity = deps.maxUnfinishedJobs - unfinished.length;
  const extra = Math.ceil(deps.maxUnfinishedJobs * EXTRA_SHARE) + Math.min(0, freeCapacity);
  if (freeCapacity + extra <= 0) return 0;
  const limit = Math.min(Math.max(0, freeCapacity) + extra, MAX_BATCH);
  const waiting = await selectUndispatchedJobs(deps.database, { present: ids, inputStored, limit });
  const jobs = withinShare(waiting, { freeCapacity, accounts: unfinished.map(({ spec }) => spec.account) });
  if (jobs.length === 0) return 0;
  const nonces = new Map(jobs.map((job) => [job, deps.newNonce()]));
  const taken = await setDispatches(deps.database, nonces);
  const remaining = [...nonces].filter(([job]) => taken.has(job.id)).values();
  const dispatchNext = async (): Promise<void> => {
    for (const [job, nonce] of remaining) {
      const name = mediaJobName(job.id);
      deps.beingCreated.add(name);
      await dispatchJob(deps, job, nonce).finally(() => deps.beingCreated.delete(name));
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: CONCURRENCY }, dispatchNext));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return jobs.length;
}

/** Returns the jobs within the limit, and beyond it one of each account that has no MediaJob. */
function withinShare(
  jobs: readonly Job[],
  { freeCapacity, accounts }: { freeCapacity: number; accounts: readonly string[] },
): readonly Job[] {
  const accountsWithMediaJob = new Set(accounts);
  return jobs.filter(({ accountId }, index) => {
    const isFirst = !accountsWithMediaJob.has(accountId);
    accountsWithMediaJob.add(accountId);
    return index < freeCapacity || isFirst;
  });
}

async function dispatchJob(deps: DispatchDeps, job: Job, nonce: string): Promise<void> {
  const name = mediaJobName(job.id);
  await faultPoint('before-dispatch');
  const span = startDispatchSpan(deps, job);
  const outcome = await deps.mediaJobs.create({
    name,
    labels: { [LABELS.job]: name, [LABELS.account]: job.accountId, [LABELS.dispatch]: nonce },
    ...(span === null ? {} : { annotations: { [ANNOTATIONS.traceparent]: span.traceparent } }),
    spec: specOf(job, `${name}-${nonce}`),
    ticket: ticketOf(deps, job, nonce),
  });
  span?.end({ attributes: { 'mediajobs.job.id': job.id }, error: null });
  await faultPoint('after-dispatch');
  deps.log.info({ job_id: job.id, outcome, first_attempt: job.attempt + 1 }, 'job dispatched');
}

/** Starts the span of a dispatch, which the attempts of the MediaJob continue; null: the job is not traced. */
function startDispatchSpan({ tracing }: Pick<DispatchDeps, 'tracing'>, { id, traceparent }: Job): OpenSpan | null {
  if (tracing === null || traceparent === null) return null;
  return tracing.start({ name: 'job dispatch', kind: 'producer', parent: jobTraceparent(id, traceparent) });
}

function specOf(job: Job, secretName: string): MediaJobSpec {
  return {
    jobId: job.id,
    account: job.accountId,
    kind: kindOfName(job.inputFilename),
    inputSize: job.inputSize,
    ...unnamedWorkOrder(job),
    secretName,
    firstAttempt: Math.min(job.attempt, MAX_ATTEMPTS) + 1,
    disruptions: job.disruptions,
    startedAt: job.startedAt?.toISOString() ?? null,
    waitUntil: new Date(job.createdAt.getTime() + waitSeconds(job) * 1000).toISOString(),
    suspend: !job.inputStored,
  };
}

/**
 * Returns the time from a job's creation to the end of its wait for capacity, in seconds. The wait of a fetched input begins
 * when it is stored, and its end is in PostgreSQL (`failOverdueJobs`); this is its latest time.
 */
function waitSeconds({ uploadId }: Job): number {
  return LIMITS.jobWaitSeconds + (uploadId === null ? LIMITS.jobFetchSeconds : 0);
}

function ticketOf({ heartbeatKey }: Pick<DispatchDeps, 'heartbeatKey'>, job: Job, dispatch: string): JobTicket {
  const attempts = Array.from({ length: MAX_ATTEMPTS }, (_, index) => index + 1);
  return {
    dispatch,
    inputEtag: job.inputStored ? job.inputEtag : null,
    filename: job.inputFilename,
    heartbeatTokens: attempts.map((attempt) => heartbeatToken(heartbeatKey, job.id, attempt)),
  };
}
