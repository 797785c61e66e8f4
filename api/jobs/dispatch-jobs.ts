/**
 * Rows become MediaJobs: in turns between accounts, a bounded number at a time. A row whose MediaJob is
 * missing (never made, lost with its store, deleted by hand) gets a new one, under a new nonce.
 */
import type { FileStore } from '#api/files/file-store.ts';
import { outputKey, type Job } from '#api/jobs/job.ts';
import { selectUndispatchedJobs, setDispatch } from '#api/jobs/job-progress-rows.ts';
import type { Database } from '#api/store/database.ts';
import { heartbeatToken } from '#crds/heartbeat-token.ts';
import { formatOfName, FORMATS, type Kind } from '#crds/formats.ts';
import { isFinal, type JobTicket, type MediaJobSpec, type OutputTarget } from '#crds/media-job.ts';
import type { MediaJobClient } from '#crds/media-job-client.ts';
import { jobIdOfName, LABELS, mediaJobName } from '#crds/names.ts';
import { LIMITS } from '#crds/plans.ts';
import { faultPoint } from '#crds/shared/fault-point.ts';
import type { Log } from '#crds/shared/log.ts';

export interface DispatchDeps {
  readonly database: Database;
  readonly mediaJobs: MediaJobClient;
  readonly files: FileStore;
  readonly log: Log;
  /** A fresh word of a-z and 0-9. */
  readonly newNonce: () => string;
  /** That the workers' tokens are made with: the controller's. */
  readonly heartbeatKey: Buffer;
  /** Unfinished MediaJobs at most. */
  readonly openJobs: number;
  /** Names of MediaJobs that are being made: their tickets follow. */
  readonly inTheMaking: Set<string>;
}

/** Seconds. A ticket's links outlive the longest life of a job: its wait and three full attempts. */
export const TICKET_SECONDS = LIMITS.jobWaitSeconds + LIMITS.jobAttempts * LIMITS.jobRunSeconds + 3600;

/** MediaJobs in the making at once: each waits for answers most of its time. */
const AT_ONCE = 8;

/** Makes the MediaJobs that are missing; gives the number of jobs that lacked one. */
export async function dispatchJobs(deps: DispatchDeps): Promise<number> {
  const present = await deps.mediaJobs.list();
  const room = deps.openJobs - present.filter((mediaJob) => !isFinal(mediaJob.status)).length;
  if (room <= 0) return 0;
  const ids = present.map((mediaJob) => jobIdOfName(mediaJob.metadata.name));
  const jobs = await selectUndispatchedJobs(deps.database, { present: ids, limit: Math.min(room, 200) });
  const inTurn = jobs.values();
  const dispatchNext = async (): Promise<void> => {
    for (const job of inTurn) {
      const name = mediaJobName(job.id);
      deps.inTheMaking.add(name);
      await dispatchJob(deps, job).finally(() => deps.inTheMaking.delete(name));
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, dispatchNext));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return jobs.length;
}

async function dispatchJob(deps: DispatchDeps, job: Job): Promise<void> {
  const nonce = deps.newNonce();
  if (!(await setDispatch(deps.database, job, nonce))) return;
  const name = mediaJobName(job.id);
  await faultPoint('before-dispatch');
  const outcome = await deps.mediaJobs.create({
    name,
    labels: { [LABELS.job]: name, [LABELS.account]: job.accountId, [LABELS.dispatch]: nonce },
    spec: specOf(job, `${name}-${nonce}`),
    ticket: await ticketOf(deps, job, nonce),
  });
  await faultPoint('after-dispatch');
  deps.log.info({ job: job.id, outcome, first_attempt: job.attempt + 1 }, 'dispatched');
}

/** The kind that a file name stands for: a guess for sizing and display. */
export function kindOfName(filename: string | null): Kind | null {
  const format = formatOfName(filename);
  return format === null ? null : FORMATS[format].kind;
}

/** A signed GET of the job's input. */
export function inputUrl({ files }: Pick<DispatchDeps, 'files'>, job: Job): Promise<string> {
  return files.signedGet(job.inputKey, TICKET_SECONDS);
}

function specOf(job: Job, secretName: string): MediaJobSpec {
  return {
    jobId: job.id,
    account: job.accountId,
    operation: job.operation,
    kind: kindOfName(job.inputFilename),
    inputSize: job.inputSize,
    options: job.options,
    limits: job.limits,
    features: job.features,
    secretName,
    firstAttempt: Math.min(job.attempt, LIMITS.jobAttempts) + 1,
    startedAt: job.startedAt?.toISOString() ?? null,
    waitUntil: new Date(job.createdAt.getTime() + LIMITS.jobWaitSeconds * 1000).toISOString(),
    suspend: !job.inputStored,
  };
}

async function ticketOf(deps: DispatchDeps, job: Job, nonce: string): Promise<JobTicket> {
  const attempts = Array.from({ length: LIMITS.jobAttempts }, (_, index) => index + 1);
  return {
    inputUrl: job.inputStored ? await inputUrl(deps, job) : null,
    inputEtag: job.inputEtag,
    filename: job.inputFilename,
    outputs: await Promise.all(
      attempts.map((attempt) => outputTarget(deps.files, job, outputKey(job, nonce, attempt))),
    ),
    heartbeatTokens: attempts.map((attempt) => heartbeatToken(deps.heartbeatKey, job.id, attempt)),
  };
}

async function outputTarget(files: FileStore, job: Job, key: string): Promise<OutputTarget> {
  return {
    url: await files.signedPut(key, TICKET_SECONDS),
    parts: mayOutgrowOnePut(job) ? await files.beginParts(key, TICKET_SECONDS) : null,
  };
}

/** Only a conversion makes a file larger; 25 MB of the densest input, such as speech, stay below 5 GiB. */
function mayOutgrowOnePut({ operation, inputSize }: Job): boolean {
  return operation === 'convert' && (inputSize === null || inputSize > 25_000_000);
}
