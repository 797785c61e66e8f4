import { join } from 'node:path';
import { FORMATS, formatOfName } from '#crds/formats.ts';
import { MediaError, toJobError } from '#crds/media-error.ts';
import type { RunOutcome, RunSpec } from '#crds/run-spec.ts';
import { faultPoint } from '#crds/shared/fault-point.ts';
import type { Log } from '#crds/shared/log.ts';
import { EngineKilled, type EngineChild } from '#worker-image/engine/engine-child.ts';
import type { ProcessedFile } from '#worker-image/engine/process-file.ts';
import { download } from '#worker-image/transfer/download.ts';
import { TransferFailed, type RetryDeps } from '#worker-image/transfer/retrying.ts';
import { upload } from '#worker-image/transfer/upload.ts';

export interface AttemptDeps extends RetryDeps {
  readonly child: EngineChild;
  readonly versions: Promise<Readonly<Record<string, string>>>;
  readonly log: Log;
  /** 0 to 99. */
  readonly onPercent: (percent: number) => void;
  /** Aborted when the attempt is no longer wanted. */
  readonly signal: AbortSignal;
}

/** Shares of the percent. Spec: "percent never falls: 0–10 fetch, 10–95 work, 95–99 delivery". */
const FETCHED = 10;
const WORKED = 95;
const DELIVERED = 99;

/**
 * Fetches the input, has it processed, stores the output.
 * @throws TransferFailed and EngineKilled, which another attempt may not meet; the signal's reason.
 */
export async function runAttempt(deps: AttemptDeps, spec: RunSpec, directory: string): Promise<RunOutcome> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(timeLimit(spec)), spec.timeoutSeconds * 1000);
  const signal = AbortSignal.any([deps.signal, limit.signal]);
  try {
    const { report } = await carry({ ...deps, signal }, spec, directory);
    return { outcome: 'succeeded', report };
  } catch (error) {
    deps.signal.throwIfAborted();
    const reason: unknown = limit.signal.aborted ? limit.signal.reason : error;
    if (reason instanceof TransferFailed || reason instanceof EngineKilled) throw reason;
    logFailure(deps.log, reason);
    const { code, message } = toJobError(reason);
    return { outcome: 'failed', error: { code, message } };
  } finally {
    clearTimeout(timer);
  }
}

async function carry(deps: AttemptDeps, spec: RunSpec, directory: string): Promise<ProcessedFile> {
  const { signal, onPercent } = deps;
  const path = join(directory, 'input');
  const share = (from: number, to: number) => (part: number) => onPercent(from + (to - from) * part);
  const named = formatOfName(spec.filename);
  if (named !== null) deps.child.expect(FORMATS[named].kind);
  await download(deps, { ...spec.input, path, signal, onProgress: share(0, FETCHED) });
  const work = share(FETCHED, WORKED);
  const { operation, options, limits, features, filename } = spec;
  const file = await deps.child.process({
    task: { operation, options, limits, features, filename, lane: 'job', path, directory },
    versions: await deps.versions,
    signal,
    onProgress: (percent) => work(percent / 100),
  });
  const contentType = FORMATS[file.report.result.output_format].mediaType;
  await faultPoint('before-output-put');
  await upload(deps, {
    target: spec.output,
    path: file.path,
    contentType,
    signal,
    onProgress: share(WORKED, DELIVERED),
  });
  await faultPoint('after-output-put');
  return file;
}

function timeLimit({ timeoutSeconds }: RunSpec): MediaError {
  return new MediaError(
    'timeout',
    `The work took longer than its limit of ${timeoutSeconds} seconds. Send a smaller file or ask for less.`,
  );
}

function logFailure(log: Log, error: unknown): void {
  if (error instanceof MediaError)
    log.info({ code: error.code, reason: error.message, err: error.cause }, 'file refused');
  else log.error({ err: error }, 'bug in the engine');
}
