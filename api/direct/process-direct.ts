/**
 * Direct requests: the body is streamed to the engine and the result is streamed back. Nothing is stored or parsed
 * here, and only a small window of the body is in memory.
 */
import type { Readable } from 'node:stream';
import { maxDirectBytes } from '#api/accounts/max-direct-bytes.ts';
import { workOrderOf } from '#api/accounts/work-order-of.ts';
import type { AccountCaller } from '#api/accounts/find-caller.ts';
import { largestCost } from '#api/billing/largest-cost.ts';
import { recordWork, type Charge } from '#api/billing/record-work.ts';
import { reserveDirect, type DirectReservation } from '#api/billing/reserve-direct.ts';
import type { Dependencies } from '#api/dependencies.ts';
import type { AnnouncedBody, EngineClient, EngineSlot } from '#api/direct/engine-client.ts';
import { watchBody, type WatchedBody } from '#api/direct/watch-body.ts';
import { presetOptions } from '#api/presets/preset-options.ts';
import { lastComponent } from '#api/uploads/upload.ts';
import type { DirectWork } from '#crds/contract/direct-work.ts';
import { possibleKinds } from '#crds/contract/first-bytes.ts';
import type { Kind, Operation } from '#crds/catalogue/formats.ts';
import { MediaError, throwIfRefused } from '#crds/contract/media-error.ts';
import {
  mergeOptions,
  parseJsonOptions,
  parseQueryOptions,
  resolveOptions,
  type FlatOptions,
} from '#crds/catalogue/options/options.ts';
import type { EngineResult } from '#crds/contract/result.ts';
import { tenantOf } from '#crds/contract/tenant.ts';
import { refusalOf } from '#crds/contract/work-rules.ts';
import { faultPoint } from '#crds/process/fault-point.ts';

/** Query parameters that abbreviate options of `convert`. */
const SHORT_NAMES: Readonly<Record<Operation, readonly string[]>> = {
  compress: [],
  convert: ['to', 'page', 'dpi'],
  strip_metadata: ['to', 'page', 'dpi'],
};

interface DirectDeps extends Pick<Dependencies, 'database' | 'clock' | 'log' | 'samples'> {
  readonly engine: EngineClient;
}

export interface DirectBody {
  readonly file: Readable;
  /** Returns file name and options; complete after the file has ended. */
  readonly fields: () => { readonly filename: string | null; readonly options: unknown };
}

interface DirectInput {
  /** `req_…`: also the id of the reservation and of the ledger's entry. */
  readonly requestId: string;
  readonly operation: Operation;
  /** Names and options beside the body. */
  readonly parameters: ReadonlyMap<string, string>;
  /** Whether the body is a form, which may contain further options. */
  readonly isForm: boolean;
  /** Size of the whole body in bytes; null when it was not announced. */
  readonly contentLength: number | null;
  /** Starts to read the body. @throws MediaError missing_file, bad_request; later ones are errors of the file's stream */
  readonly readBody: () => DirectBody;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

interface DirectRequest {
  readonly caller: AccountCaller;
  readonly input: DirectInput;
}

interface ProcessedFile {
  readonly result: EngineResult;
  readonly body: Readable;
  /** Name of the input; null when none was sent. */
  readonly filename: string | null;
  readonly billed: boolean;
}

/** Processes the body of a direct request and returns the result with its file. @throws MediaError */
export async function processDirect(deps: DirectDeps, request: DirectRequest): Promise<ProcessedFile> {
  const { caller, input } = request;
  const options = await readDirectOptions(deps, request);
  const maxBytes = maxDirectBytes(caller);
  refuseLength(request, maxBytes);
  const body = input.readBody();
  const sizeRefusal = (size: number) => (size > maxBytes ? tooLarge(size, maxBytes) : null);
  // Only test keys need the hash: it identifies the published samples.
  const seen = watchBody(body.file, { sizeRefusal, hashes: !caller.livemode });
  const kinds = possibleKinds(await seen.firstBytes);
  // The price is reserved before admission. An overloaded engine is asked first, so that a refusal costs no query.
  let slot = deps.engine.isOverloaded() ? await deps.engine.acquireSlot(announcedBody(request)) : null;
  try {
    const reservation = await reserve(deps, request, { options, kinds });
    try {
      slot ??= await deps.engine.acquireSlot(announcedBody(request));
      return await processInSlot(deps, request, { options, slot, body, seen, reservation });
    } finally {
      await reservation.release();
    }
  } finally {
    slot?.release();
  }
}

interface ReceivedWork {
  readonly options: DirectOptions;
  readonly slot: EngineSlot;
  readonly body: DirectBody;
  readonly seen: WatchedBody;
  readonly reservation: DirectReservation;
}

/** Reserves the largest price. The options of a form are not known yet; without them the price is never lower. */
function reserve(
  deps: DirectDeps,
  { caller, input: { operation, isForm, requestId } }: DirectRequest,
  { options: { preset, sent }, kinds }: { readonly options: DirectOptions; readonly kinds: readonly Kind[] },
): Promise<DirectReservation> {
  const flat = isForm ? new Map() : mergeOptions(preset, sent);
  const order = workOrderOf(caller.account, operation, resolveOptions(flat, operation));
  const microUsd = largestCost({ ...order, lane: 'direct', kinds });
  return reserveDirect(deps, { caller, requestId, microUsd });
}

async function processInSlot(
  deps: DirectDeps,
  { caller, input: { requestId, operation } }: DirectRequest,
  { options: { filename, preset, sent }, slot, body, seen, reservation }: ReceivedWork,
): Promise<ProcessedFile> {
  let isSubmitted = false;
  const work = (): DirectWork => {
    if (seen.size() === 0) throw missingFile();
    if (!caller.livemode) refuseNonSample(deps, seen.sha256());
    const fields = body.fields();
    const json = parseJsonOptions(fields.options === undefined ? {} : fields.options);
    const options = mergeOptions(preset, json, sent);
    const directWork = workOf(caller, { operation, options, filename: filename ?? fields.filename });
    isSubmitted = true;
    return directWork;
  };
  const count = (result: EngineResult | null): Promise<Charge> => {
    const { account, livemode } = caller;
    const counted = {
      id: requestId,
      accountId: account.id,
      livemode,
      operation,
      inputSize: seen.size(),
      result,
      completedAt: null,
    };
    // A response that fails must not be charged, so the ledger is written before the response is sent.
    return reservation.charge((tx, onLastChange) => recordWork(deps, tx, counted, onLastChange));
  };
  try {
    const response = await slot.process({ file: seen.file, work });
    const { result } = response.report;
    await faultPoint('before-direct-count');
    const { billed } = await count(result);
    await faultPoint('after-direct-count');
    return { result, body: response.body, filename: filename ?? body.fields().filename, billed };
  } catch (error) {
    // A refusal before processing is not counted. A file that failed counts as a request without a price.
    if (isSubmitted && error instanceof MediaError && error.code !== 'engine_busy') await count(null);
    throw error;
  }
}

interface DirectOptions {
  readonly filename: string | null;
  /** Options of the preset that the parameters name. */
  readonly preset: FlatOptions;
  /** Options among the parameters. */
  readonly sent: FlatOptions;
}

async function readDirectOptions(
  deps: Pick<Dependencies, 'database'>,
  { caller, input: { parameters, operation, isForm } }: DirectRequest,
): Promise<DirectOptions> {
  const others = new Map(parameters);
  others.delete('filename');
  others.delete('preset');
  const preset = await presetOptions(deps, { accountId: caller.account.id, preset: parameters.get('preset') });
  const sent = parseQueryOptions(others, SHORT_NAMES[operation]);
  // Options are checked before the body, except when a form may contain further ones.
  if (!isForm) resolveOptions(mergeOptions(preset, sent), operation);
  return { filename: lastComponent(parameters.get('filename')), preset, sent };
}

function workOf(
  caller: AccountCaller,
  input: { operation: Operation; options: FlatOptions; filename: string | null },
): DirectWork {
  const options = resolveOptions(input.options, input.operation);
  const order = workOrderOf(caller.account, input.operation, options);
  throwIfRefused(refusalOf(order, { by: 'nothing' }, 'direct'));
  return { ...order, filename: input.filename, tenant: tenantOfCaller(caller) };
}

/** Returns the announcement of a body. The limit is at most Content-Length: a file is no larger than its body. */
function announcedBody({ caller, input: { contentLength, signal } }: DirectRequest): AnnouncedBody {
  const maxBytes = maxDirectBytes(caller);
  return { tenant: tenantOfCaller(caller), bytes: Math.min(contentLength ?? maxBytes, maxBytes), signal };
}

function tenantOfCaller({ account, livemode }: AccountCaller): string {
  return tenantOf(account.id, livemode ? 'live' : 'test');
}

/** Bytes for the boundaries, headers and options of a form, in addition to the largest file. */
const FORM_SLACK = 256 * 1024;

function refuseLength({ caller, input: { contentLength, isForm } }: DirectRequest, maxBytes: number): void {
  if (contentLength === null && !caller.livemode && !isForm) {
    const message = 'With a test key the body needs a `Content-Length`.';
    throw new MediaError('bad_request', message, { param: 'Content-Length' });
  }
  if (contentLength !== null && contentLength > maxBytes + (isForm ? FORM_SLACK : 0))
    throw tooLarge(contentLength, maxBytes);
}

function tooLarge(size: number, maxBytes: number): MediaError {
  const message = `The file has ${size} bytes or more; a direct request takes at most ${maxBytes}. Send larger files as a job.`;
  return new MediaError('file_too_large', message);
}

function refuseNonSample({ samples }: Pick<Dependencies, 'samples'>, sha256: string): void {
  if (samples.bySha256(sha256) !== null) return;
  const message = 'A test key accepts only the published sample files; this file is not one of them.';
  throw new MediaError('test_mode_sample_required', message);
}

/** Returns the refusal of a request without a file. */
export function missingFile(): MediaError {
  return new MediaError(
    'missing_file',
    'The request has no file, or the file is empty: send it as the body, or as the part `file` of multipart/form-data.',
  );
}
