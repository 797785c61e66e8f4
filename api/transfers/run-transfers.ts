/**
 * Makes the transfers of jobs (their life: transfer-rows.ts). A try is claimed with a lease that is
 * extended while bytes move, so that another process takes over when this one dies, and ends early when
 * its job has ended meanwhile.
 */
import { JOBS_CHANNEL } from '#api/jobs/jobs-channel.ts';
import type { FileStore } from '#api/files/file-store.ts';
import type { Database } from '#api/store/database.ts';
import { notify } from '#api/store/listen.ts';
import type { SecretBox } from '#api/store/secret-box.ts';
import { deliverOutput, outputTargetSchema } from '#api/transfers/deliver-output.ts';
import { fetchInput, type FetchedInput } from '#api/transfers/fetch-input.ts';
import type { TransferMetrics } from '#api/transfers/transfer-metrics.ts';
import type { TransferFailure } from '#api/transfers/transfer-outcome.ts';
import {
  claimTransfers,
  endTransfer,
  extendLease,
  recordInput,
  recordFetched,
  releaseTransfer,
  retryTransfer,
  type ClaimedTransfer,
  type Direction,
  type TransferError,
} from '#api/transfers/transfer-rows.ts';
import { FORMATS } from '#crds/formats.ts';
import { PLANS } from '#crds/plans.ts';
import type { Clock } from '#crds/shared/clock.ts';
import { faultPoint } from '#crds/shared/fault-point.ts';
import type { Log } from '#crds/shared/log.ts';
import type { SafeFetch } from '#crds/shared/safe-fetch.ts';

export interface TransferDeps {
  readonly database: Database;
  readonly files: Pick<FileStore, 'get' | 'put'>;
  readonly safeFetch: SafeFetch;
  readonly secretBox: SecretBox;
  readonly clock: Clock;
  readonly metrics: TransferMetrics;
  readonly log: Log;
}

/** Transfers under way at once: in this process, and of one account in all processes. */
export const AT_ONCE = 64;
const PER_ACCOUNT = 8;
const LEASE_MS = 60_000;
const EXTEND_MS = 20_000;

/** Seconds from a failed try to the next one; after the last, the transfer has failed. */
const RETRY_SECONDS = { fetch: [5, 20], deliver: [5, 20, 60] } as const;

/** Takes due transfers for as many places as are free; each still has to be made. */
export async function claimDueTransfers(
  { database, clock }: TransferDeps,
  freePlaces: number,
): Promise<readonly ClaimedTransfer[]> {
  const now = clock.now();
  const leaseUntil = new Date(now.getTime() + LEASE_MS);
  return database.transaction((tx) =>
    claimTransfers(tx, { now, leaseUntil, limit: freePlaces, perAccount: PER_ACCOUNT }),
  );
}

/** Makes one claimed try and records its end. */
export async function runTransfer(deps: TransferDeps, transfer: ClaimedTransfer, stopped: AbortSignal): Promise<void> {
  const lost = new AbortController();
  const timer = setInterval(() => void keepLease(deps, transfer, lost), EXTEND_MS);
  try {
    const outcome = await moveBytes(deps, transfer, AbortSignal.any([stopped, lost.signal]));
    if (outcome.outcome === 'failed' && (stopped.aborted || lost.signal.aborted))
      return await releaseTransfer(deps.database, transfer);
    if (outcome.outcome === 'fetched') await faultPoint('after-input-stored');
    if (outcome.outcome === 'sent') await faultPoint('after-output-sent');
    await record(deps, transfer, outcome);
  } finally {
    clearInterval(timer);
  }
}

async function keepLease(
  { database, clock, log }: TransferDeps,
  transfer: ClaimedTransfer,
  lost: AbortController,
): Promise<void> {
  try {
    const isOurs = await extendLease(database, transfer, new Date(clock.now().getTime() + LEASE_MS));
    if (!isOurs) lost.abort();
  } catch (error) {
    log.warn({ err: error, job_id: transfer.jobId }, 'a transfer is given up: its lease could not be extended');
    lost.abort();
  }
}

type Outcome = FetchedInput | { readonly outcome: 'sent' | 'missing' } | TransferFailure;

function moveBytes(deps: TransferDeps, transfer: ClaimedTransfer, signal: AbortSignal): Promise<Outcome> {
  return transfer.direction === 'fetch' ? fetchOne(deps, transfer, signal) : deliverOne(deps, transfer, signal);
}

async function fetchOne(
  deps: TransferDeps,
  { jobId, inputUrl, inputKey, plan }: ClaimedTransfer,
  signal: AbortSignal,
): Promise<Outcome> {
  if (inputUrl === null) throw new Error(`job ${jobId} has no input.url`);
  const url = deps.secretBox.open(inputUrl, `job-input:${jobId}`);
  const progress = reportProgress(deps, jobId);
  try {
    return await fetchInput(deps, {
      url,
      key: inputKey,
      maxBytes: PLANS[plan].maxAsyncBytes,
      signal,
      onBytes: progress.onBytes,
    });
  } finally {
    progress.stop();
  }
}

const PROGRESS_EVERY_MS = 1000;
/** A job's first tenth is the fetch of its input. */
const FETCH_PERCENT = 10;

/** Writes how far the fetch is, at most once a second. Nothing depends on it: a failure is only logged. */
function reportProgress(
  { database, log }: TransferDeps,
  jobId: string,
): { onBytes: (received: number, size: number) => void; stop: () => void } {
  let [percent, reported] = [0, 0];
  const timer = setInterval(() => {
    if (percent <= reported) return;
    reported = percent;
    recordFetched(database, jobId, percent).catch((error: unknown) => {
      log.warn({ err: error, job_id: jobId }, 'the progress of a fetch was not noted');
    });
  }, PROGRESS_EVERY_MS).unref();
  return {
    onBytes: (received, size) => {
      percent = size === 0 ? 0 : Math.floor((FETCH_PERCENT * received) / size);
    },
    stop: () => clearInterval(timer),
  };
}

function deliverOne(
  deps: TransferDeps,
  { jobId, outputTarget, outputKey, outputFormat }: ClaimedTransfer,
  signal: AbortSignal,
): Promise<Outcome> {
  if (outputTarget === null || outputKey === null) throw new Error(`job ${jobId} has no output.url, or no output yet`);
  const target = outputTargetSchema.parse(JSON.parse(deps.secretBox.open(outputTarget, `job-output:${jobId}`)));
  const mediaType = outputFormat === null ? 'application/octet-stream' : FORMATS[outputFormat].mediaType;
  return deliverOutput(deps, { target, key: outputKey, mediaType, signal });
}

async function record(deps: TransferDeps, transfer: ClaimedTransfer, outcome: Outcome): Promise<void> {
  const { direction, tries, jobId } = transfer;
  const at = deps.clock.now();
  const delay = RETRY_SECONDS[direction][tries - 1];
  if (outcome.outcome === 'failed' && outcome.isTransient && delay !== undefined) {
    await retryTransfer(deps.database, transfer, new Date(at.getTime() + delay * 1000));
    deps.metrics.ended(direction, 'retried');
    return;
  }
  const error = errorOf(direction, outcome);
  const isCurrent = await deps.database.transaction(async (tx) => {
    if (!(await endTransfer(tx, transfer, { at, error }))) return false;
    if (outcome.outcome === 'fetched') await recordInput(tx, jobId, outcome);
    await notify(tx, JOBS_CHANNEL, jobId);
    return true;
  });
  // The job has ended: the next claim closes the transfer and sees to what was stored.
  if (!isCurrent) return releaseTransfer(deps.database, transfer);
  deps.metrics.ended(direction, error === null ? 'succeeded' : 'failed');
  deps.log.info({ job_id: jobId, direction, tries, outcome: outcome.outcome }, 'transfer ended');
}

function errorOf(direction: Direction, outcome: Outcome): TransferError | null {
  switch (outcome.outcome) {
    case 'fetched':
    case 'sent':
      return null;
    case 'missing':
      return { code: 'internal', message: 'The result was gone when it was to be delivered. Send the job again.' };
    case 'failed':
      return direction === 'fetch'
        ? { code: 'input_fetch_failed', message: `\`input.url\` could not be fetched: ${outcome.problem}.` }
        : {
            code: 'output_upload_failed',
            message: `The result could not be PUT to \`output.url\`: ${outcome.problem}.`,
          };
  }
}
