import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { FORMATS, kindOfName } from '#crds/catalogue/formats.ts';
import { MediaError, toJobError } from '#crds/contract/media-error.ts';
import type { WorkerReport } from '#crds/contract/media-job.ts';
import type { RunOutcome, RunSpec } from '#crds/contract/run-spec.ts';
import { unnamedWorkOrder } from '#crds/contract/work-order.ts';
import { faultPoint } from '#crds/process/fault-point.ts';
import type { Log } from '#crds/process/log.ts';
import type { PhaseTimes } from '#worker-image/phase-times.ts';
import type { SandboxedEngine } from '#worker-image/sandbox/sandboxed-engine.ts';
import { EngineKilled } from '#worker-image/sandbox/engine-channel.ts';
import { download } from '#worker-image/transfer/download.ts';
import { makeRequestTransfer } from '#worker-image/transfer/request-transfer.ts';
import { TransferFailed, type RetryDeps } from '#worker-image/transfer/retry-transfer.ts';
import { upload } from '#worker-image/transfer/upload.ts';

export interface AttemptDeps extends RetryDeps {
  readonly engine: SandboxedEngine;
  /** true: the engine process may open the next file of the account, and is not ended. */
  readonly keepsEngine?: boolean;
  readonly versions: Promise<Readonly<Record<string, string>>>;
  readonly log: Log;
  readonly phases: PhaseTimes;
  /** Called with the progress, 0 to 99. */
  readonly onPercent: (percent: number) => void;
  /** Aborted when the attempt is no longer wanted. */
  readonly signal: AbortSignal;
}

/** Progress in percent after download, processing and upload. See docs/reference/jobs.md#progress. */
const DOWNLOADED = 10;
const PROCESSED = 95;
const UPLOADED = 99;

/**
 * Downloads the input, processes it and uploads the output.
 * @param folder Private folder, on the file system of the engine process's root directory.
 * @throws TransferFailed and EngineKilled, after which another attempt may succeed; the signal's reason.
 */
export async function runAttempt(deps: AttemptDeps, spec: RunSpec, folder: string): Promise<RunOutcome> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(timeLimit(spec)), spec.timeoutSeconds * 1000);
  const signal = AbortSignal.any([deps.signal, limit.signal]);
  try {
    const report = await processInput({ ...deps, signal }, spec, folder);
    return { outcome: 'succeeded', report, ...phasesOf(deps, spec) };
  } catch (error) {
    deps.signal.throwIfAborted();
    const reason: unknown = limit.signal.aborted ? limit.signal.reason : error;
    if (reason instanceof TransferFailed || reason instanceof EngineKilled) throw reason;
    logFailure(deps.log, reason);
    const { code, message } = toJobError(reason);
    return { outcome: 'failed', error: { code, message }, ...phasesOf(deps, spec) };
  } finally {
    clearTimeout(timer);
  }
}

function phasesOf({ phases }: Pick<AttemptDeps, 'phases'>, { isTraced }: RunSpec): Pick<RunOutcome, 'phases'> {
  return isTraced === true ? { phases: phases.list() } : {};
}

async function processInput(deps: AttemptDeps, spec: RunSpec, folder: string): Promise<WorkerReport> {
  const { signal, onPercent, phases } = deps;
  const directory = await mkdtemp(join(folder, 'task-'));
  const path = join(directory, 'input');
  const share = (from: number, to: number) => (part: number) => onPercent(from + (to - from) * part);
  const kind = kindOfName(spec.filename);
  if (kind !== null) deps.engine.expect(kind);
  const requestTransfer = makeRequestTransfer(spec);
  phases.begin('fetch');
  await download(deps, { ...spec.input, requestTransfer, path, signal, onProgress: share(0, DOWNLOADED) });
  phases.begin('process');
  const work = share(DOWNLOADED, PROCESSED);
  const { output, size, report } = await deps.engine.process({
    task: { ...unnamedWorkOrder(spec), filename: spec.filename, lane: 'job', path, directory },
    versions: await deps.versions,
    signal,
    onProgress: (percent) => work(percent / 100),
  });
  await using file = output;
  // Ending the engine process takes milliseconds; the upload does not wait for it.
  const ended = deps.keepsEngine === true ? Promise.resolve() : deps.engine.kill();
  ended.catch((error: unknown) => deps.log.warn({ err: error }, 'engine process not ended'));
  const contentType = FORMATS[report.result.output_format].mediaType;
  await faultPoint('before-output-put');
  phases.begin('upload');
  const source = { file, size, contentType };
  await upload(deps, { ...source, requestTransfer, signal, onProgress: share(PROCESSED, UPLOADED) });
  await faultPoint('after-output-put');
  return report;
}

function timeLimit({ timeoutSeconds }: RunSpec): MediaError {
  return new MediaError(
    'timeout',
    `Processing took longer than its limit of ${timeoutSeconds} seconds. Send a smaller file or choose options that need less time.`,
  );
}

function logFailure(log: Log, error: unknown): void {
  if (error instanceof MediaError)
    log.info({ code: error.code, reason: error.message, err: error.cause }, 'file refused');
  else log.error({ err: error }, 'bug in the engine');
}
