/**
 * Runs the transfers of jobs (states: transfer-rows.ts). An attempt is claimed with a lease that is extended while it
 * runs, so that another process repeats it when this one dies. It is aborted when the job has ended.
 */
import type { Dependencies } from '#api/dependencies.ts';
import { CHANGES_CHANNEL } from '#api/store/changes-channel.ts';
import type { FileStore } from '#api/files/file-store.ts';
import { SecretBoxError } from '#api/store/secret-box.ts';
import { notify } from '#api/store/listen.ts';
import { uploadOutput, callerTargetSchema } from '#api/transfers/upload-output.ts';
import { fetchInput, type FetchedInput } from '#api/transfers/fetch-input.ts';
import { traceTransfer } from '#api/transfers/trace-transfer.ts';
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
import { FORMATS } from '#crds/catalogue/formats.ts';
import { PLANS } from '#crds/catalogue/plans.ts';
import { faultPoint } from '#crds/process/fault-point.ts';
import type { SafeFetch } from '#api/outbound/safe-fetch.ts';

export interface TransferDeps extends Pick<Dependencies, 'database' | 'secretBox' | 'clock' | 'log' | 'tracing'> {
  readonly files: Pick<FileStore, 'get' | 'put'>;
  readonly safeFetch: SafeFetch;
  readonly metrics: TransferMetrics;
}

/** Maximum number of concurrent transfers of a process. */
export const MAX_CONCURRENT_TRANSFERS = 64;
/** Maximum number of concurrent transfers of an account in all processes. */
const PER_ACCOUNT = 8;
const LEASE_MS = 60_000;
const EXTEND_MS = 20_000;
/** Delay after an attempt that failed within the service, in milliseconds: the file store may be unavailable. */
const UNCOUNTED_RETRY_MS = 20_000;

/** Delays after failed attempts, in seconds. When none is left, the transfer has failed. */
const RETRY_SECONDS = { fetch: [5, 20], deliver: [5, 20, 60] } as const;

/** Claims up to `freeSlots` due transfers, each for one attempt. */
export async function claimDueTransfers(
  { database, clock }: TransferDeps,
  freeSlots: number,
): Promise<readonly ClaimedTransfer[]> {
  const now = clock.now();
  const leaseUntil = new Date(now.getTime() + LEASE_MS);
  return database.transaction((tx) =>
    claimTransfers(tx, { now, leaseUntil, limit: freeSlots, perAccount: PER_ACCOUNT }),
  );
}

/** Runs one claimed attempt and records its end. */
export async function runTransfer(deps: TransferDeps, transfer: ClaimedTransfer, stopped: AbortSignal): Promise<void> {
  const lost = new AbortController();
  const timer = setInterval(() => void keepLease(deps, transfer, lost), EXTEND_MS);
  const span = traceTransfer(deps.tracing, transfer);
  try {
    const outcome = await tryMoveBytes(deps, transfer, AbortSignal.any([stopped, lost.signal]));
    span?.end({ error: ERRORS[outcome?.outcome ?? 'unknown'] });
    if (outcome === null) {
      const nextAt = new Date(deps.clock.now().getTime() + UNCOUNTED_RETRY_MS);
      return await releaseTransfer(deps.database, transfer, nextAt);
    }
    if (outcome.outcome === 'failed' && (stopped.aborted || lost.signal.aborted))
      return await releaseTransfer(deps.database, transfer);
    if (outcome.outcome === 'fetched') await faultPoint('after-input-stored');
    if (outcome.outcome === 'sent') await faultPoint('after-output-sent');
    await record(deps, transfer, outcome);
  } finally {
    clearInterval(timer);
  }
}

/** `error.type` of each outcome; `unknown`: an error of the service. */
const ERRORS = {
  fetched: null,
  sent: null,
  missing: 'output_missing',
  unreadable: 'internal',
  failed: 'transfer_failed',
  unknown: 'internal',
} as const satisfies Record<Outcome['outcome'] | 'unknown', string | null>;

async function keepLease(
  { database, clock, log }: TransferDeps,
  transfer: ClaimedTransfer,
  lost: AbortController,
): Promise<void> {
  try {
    const isOurs = await extendLease(database, transfer, new Date(clock.now().getTime() + LEASE_MS));
    if (!isOurs) lost.abort();
  } catch (error) {
    log.warn({ err: error, job_id: transfer.jobId }, 'transfer aborted: its lease could not be extended');
    lost.abort();
  }
}

/** `unreadable`: the stored address cannot be decrypted, now or later. */
type Outcome = FetchedInput | { readonly outcome: 'sent' | 'missing' | 'unreadable' } | TransferFailure;

/** Returns null after an error of the service, such as of the file store: the caller's server is not at fault. */
async function tryMoveBytes(
  deps: TransferDeps,
  transfer: ClaimedTransfer,
  signal: AbortSignal,
): Promise<Outcome | null> {
  try {
    return await moveBytes(deps, transfer, signal);
  } catch (error) {
    const { jobId, direction } = transfer;
    if (error instanceof SecretBoxError) {
      deps.log.error({ err: error, job_id: jobId, direction }, 'transfer ended: its address cannot be decrypted');
      return { outcome: 'unreadable' };
    }
    deps.log.warn({ err: error, job_id: jobId, direction }, 'transfer failed within the service; it is repeated');
    return null;
  }
}

function moveBytes(deps: TransferDeps, transfer: ClaimedTransfer, signal: AbortSignal): Promise<Outcome> {
  return transfer.direction === 'fetch' ? fetchOne(deps, transfer, signal) : uploadOne(deps, transfer, signal);
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
/** Percentage of a job's progress that the fetch of its input takes. */
const FETCH_PERCENT = 10;

/** Records the progress of a fetch at most once a second. A failure is only logged. */
function reportProgress(
  { database, log }: TransferDeps,
  jobId: string,
): { onBytes: (received: number, size: number) => void; stop: () => void } {
  let [percent, reported] = [0, 0];
  const timer = setInterval(() => {
    if (percent <= reported) return;
    reported = percent;
    recordFetched(database, jobId, percent).catch((error: unknown) => {
      log.warn({ err: error, job_id: jobId }, 'recording the progress of a fetch failed');
    });
  }, PROGRESS_EVERY_MS).unref();
  return {
    onBytes: (received, size) => {
      percent = size === 0 ? 0 : Math.floor((FETCH_PERCENT * received) / size);
    },
    stop: () => clearInterval(timer),
  };
}

function uploadOne(
  deps: TransferDeps,
  { jobId, outputTarget, outputKey, outputFormat }: ClaimedTransfer,
  signal: AbortSignal,
): Promise<Outcome> {
  if (outputTarget === null || outputKey === null) throw new Error(`job ${jobId} has no output.url, or no output yet`);
  const target = callerTargetSchema.parse(JSON.parse(deps.secretBox.open(outputTarget, `job-output:${jobId}`)));
  const mediaType = outputFormat === null ? 'application/octet-stream' : FORMATS[outputFormat].mediaType;
  return uploadOutput(deps, { target, key: outputKey, mediaType, signal });
}

async function record(deps: TransferDeps, transfer: ClaimedTransfer, outcome: Outcome): Promise<void> {
  const { direction, attempt, jobId } = transfer;
  const at = deps.clock.now();
  const delay = RETRY_SECONDS[direction][attempt - 1];
  if (outcome.outcome === 'failed' && outcome.isTransient && delay !== undefined) {
    await retryTransfer(deps.database, transfer, new Date(at.getTime() + delay * 1000));
    deps.metrics.ended(direction, 'retried');
    return;
  }
  const error = errorOf(direction, outcome);
  const isCurrent = await deps.database.transaction(async (tx) => {
    if (!(await endTransfer(tx, transfer, { at, error }))) return false;
    const changed = [
      ...(outcome.outcome === 'fetched' ? [recordInput(tx, jobId, outcome)] : []),
      notify(tx, CHANGES_CHANNEL, jobId),
    ];
    tx.commitNow();
    await Promise.all(changed);
    return true;
  });
  // The job has ended: the next claim closes the transfer and deletes what was stored.
  if (!isCurrent) return releaseTransfer(deps.database, transfer);
  deps.metrics.ended(direction, error === null ? 'succeeded' : 'failed');
  deps.log.info({ job_id: jobId, direction, attempt, outcome: outcome.outcome }, 'transfer ended');
}

/** Field of the request that contains the address of a transfer. */
const URL_FIELDS = { fetch: 'input.url', deliver: 'output.url' } as const satisfies Record<Direction, string>;

function errorOf(direction: Direction, outcome: Outcome): TransferError | null {
  switch (outcome.outcome) {
    case 'fetched':
    case 'sent':
      return null;
    case 'missing':
      return { code: 'internal', message: 'The result was deleted before it was uploaded. Create the job again.' };
    case 'unreadable':
      return {
        code: 'internal',
        message: `The stored \`${URL_FIELDS[direction]}\` is not readable. Create the job again.`,
      };
    case 'failed':
      return direction === 'fetch'
        ? { code: 'input_fetch_failed', message: `\`input.url\` could not be fetched: ${outcome.problem}.` }
        : {
            code: 'output_upload_failed',
            message: `The result could not be PUT to \`output.url\`: ${outcome.problem}.`,
          };
  }
}
