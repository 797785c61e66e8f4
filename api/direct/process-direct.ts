/**
 * Direct requests: the body is streamed to the engine and the result is streamed back. Nothing is stored or parsed
 * here, and only a small window of the body is in memory.
 */
import { createHash } from 'node:crypto';
import { workOrderOf } from '#api/accounts/work-order-of.ts';
import type { Caller } from '#api/accounts/find-caller.ts';
import type { ApiDeps } from '#api/http/api-deps.ts';
import { largestCost } from '#api/billing/largest-cost.ts';
import { recordWork, type Charge } from '#api/billing/record-work.ts';
import { reserveDirect } from '#api/billing/reserve-direct.ts';
import { isMultipart, missingFile, readDirectBody, type DirectBody } from '#api/direct/direct-body.ts';
import type { AnnouncedBody, EngineSlot } from '#api/direct/engine-client.ts';
import { watchBody, type WatchedBody } from '#api/direct/watch-body.ts';
import { directReply } from '#api/direct/direct-reply.ts';
import type { ApiReply, CallerRequest } from '#api/http/endpoint.ts';
import { readQuery } from '#api/http/query.ts';
import { presetOptions } from '#api/presets/preset-options.ts';
import { lastComponent } from '#api/uploads/upload.ts';
import type { DirectWork } from '#crds/contract/direct-work.ts';
import { possibleKinds } from '#crds/contract/first-bytes.ts';
import type { Kind, Operation } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import {
  mergeOptions,
  parseJsonOptions,
  parseQueryOptions,
  resolveOptions,
  type FlatOptions,
} from '#crds/catalogue/options/options.ts';
import { LIMITS, PLANS } from '#crds/catalogue/plans.ts';
import type { EngineResult } from '#crds/contract/result.ts';
import { refusalOf } from '#crds/contract/work-rules.ts';
import { faultPoint } from '#crds/process/fault-point.ts';

/** Query parameters that abbreviate options of `convert`. */
const SHORT_NAMES: Readonly<Record<Operation, readonly string[]>> = {
  compress: [],
  convert: ['to', 'page', 'dpi'],
  strip_metadata: ['to', 'page', 'dpi'],
};

/** Processes the body of a direct request and returns the response with the result. */
export async function processDirect(deps: ApiDeps, request: CallerRequest, operation: Operation): Promise<ApiReply> {
  const query = await readDirectQuery(deps, request, operation);
  const maxBytes = maxDirectBytes(request.caller);
  refuseLength(request, maxBytes);
  const body = readDirectBody(request);
  const refusalOf = (size: number) => (size > maxBytes ? tooLarge(size, maxBytes) : null);
  // Only test keys need the hash: it identifies the published samples.
  const seen = watchBody(body.file, { refusalOf, hashes: !request.caller.livemode });
  const kinds = possibleKinds(await seen.firstBytes);
  // The price is reserved before admission. An overloaded engine is asked first, so that a refusal costs no query.
  let slot = deps.engine.isOverloaded() ? await deps.engine.acquireSlot(announcedBody(request)) : null;
  try {
    const release = await reserve(deps, request, { operation, query, kinds });
    try {
      slot ??= await deps.engine.acquireSlot(announcedBody(request));
      return await processInSlot(deps, request, { operation, query, slot, body, seen });
    } finally {
      await release();
    }
  } finally {
    slot?.release();
  }
}

interface RequestedWork {
  readonly operation: Operation;
  readonly query: DirectQuery;
}

interface ReceivedWork extends RequestedWork {
  readonly slot: EngineSlot;
  readonly body: DirectBody;
  readonly seen: WatchedBody;
}

/** Reserves the largest price. Options in a multipart body are not known yet; without them the price is never lower. */
function reserve(
  deps: ApiDeps,
  request: CallerRequest,
  { operation, query, kinds }: RequestedWork & { readonly kinds: readonly Kind[] },
): Promise<() => Promise<void>> {
  const { caller } = request;
  const flat = isMultipart(request) ? new Map() : mergeOptions(query.preset, query.queryOptions);
  const order = workOrderOf(caller.account, operation, resolveOptions(flat, operation));
  const microUsd = largestCost({ ...order, lane: 'direct', kinds });
  return reserveDirect(deps, { caller, requestId: request.id, microUsd });
}

async function processInSlot(
  deps: ApiDeps,
  request: CallerRequest,
  { operation, query: { filename, preset, queryOptions }, slot, body, seen }: ReceivedWork,
): Promise<ApiReply> {
  const { caller } = request;
  let isSubmitted = false;
  const work = (): DirectWork => {
    if (seen.size() === 0) throw missingFile();
    if (!caller.livemode) refuseNonSample(deps, seen.sha256());
    const fields = body.fields();
    const json = parseJsonOptions(fields.options === undefined ? {} : fields.options);
    const options = mergeOptions(preset, json, queryOptions);
    const directWork = workOf(caller, { operation, options, filename: filename ?? fields.filename });
    isSubmitted = true;
    return directWork;
  };
  const count = (result: EngineResult | null): Promise<Charge> => {
    const { account, livemode } = caller;
    const counted = {
      id: request.id,
      accountId: account.id,
      livemode,
      operation,
      inputSize: seen.size(),
      result,
      completedAt: null,
    };
    // A response that fails must not be charged, so the ledger is written before the response is sent.
    return deps.database.transaction((tx) => recordWork(deps, tx, counted), { repeatable: true });
  };
  try {
    const answer = await slot.process({ file: seen.file, work });
    const { result } = answer.report;
    await faultPoint('before-direct-count');
    const { billed } = await count(result);
    await faultPoint('after-direct-count');
    return directReply({ result, body: answer.body, filename: filename ?? body.fields().filename, billed });
  } catch (error) {
    // A refusal before processing is not counted. A file that failed counts as a request without a price.
    if (isSubmitted && error instanceof MediaError && error.code !== 'engine_busy') await count(null);
    throw error;
  }
}

interface DirectQuery {
  readonly filename: string | null;
  /** Options of the preset that the query names. */
  readonly preset: FlatOptions;
  readonly queryOptions: FlatOptions;
}

async function readDirectQuery(deps: ApiDeps, request: CallerRequest, operation: Operation): Promise<DirectQuery> {
  const query = new Map(readQuery(request.query));
  const filename = lastComponent(query.get('filename'));
  const named = { accountId: request.caller.account.id, preset: query.get('preset') };
  query.delete('filename');
  query.delete('preset');
  const preset = await presetOptions(deps, named);
  const queryOptions = parseQueryOptions(query, SHORT_NAMES[operation]);
  // Options are checked before the body, except when a multipart body may contain further ones.
  if (!isMultipart(request)) resolveOptions(mergeOptions(preset, queryOptions), operation);
  return { filename, preset, queryOptions };
}

function workOf(
  caller: Caller,
  input: { operation: Operation; options: FlatOptions; filename: string | null },
): DirectWork {
  const options = resolveOptions(input.options, input.operation);
  const order = workOrderOf(caller.account, input.operation, options);
  const refusal = refusalOf(order, { by: 'nothing' }, 'direct');
  if (refusal !== null) throw refusal;
  return { ...order, filename: input.filename, tenant: tenantOf(caller) };
}

/** Returns the announcement of a body. The limit is at most Content-Length: a file is no larger than its body. */
function announcedBody({ caller, contentLength, signal }: CallerRequest): AnnouncedBody {
  const maxBytes = maxDirectBytes(caller);
  return { tenant: tenantOf(caller), bytes: Math.min(contentLength ?? maxBytes, maxBytes), signal };
}

/** Returns the tenant of account and mode. An account id has 100 random bits, so the hash does not reveal it. */
function tenantOf({ account, livemode }: Caller): string {
  return createHash('sha256')
    .update(`${account.id} ${livemode ? 'live' : 'test'}`)
    .digest('base64url');
}

function maxDirectBytes({ account, livemode }: Caller): number {
  return livemode ? PLANS[account.plan].maxSyncBytes : LIMITS.testDirectBytes;
}

/** Bytes for the boundaries, headers and options of a multipart body, in addition to the largest file. */
const MULTIPART_SLACK = 256 * 1024;

function refuseLength(request: CallerRequest, maxBytes: number): void {
  const { contentLength, caller } = request;
  const isForm = isMultipart(request);
  if (contentLength === null && !caller.livemode && !isForm) {
    const message = 'With a test key the body needs a `Content-Length`.';
    throw new MediaError('bad_request', message, { param: 'Content-Length' });
  }
  if (contentLength !== null && contentLength > maxBytes + (isForm ? MULTIPART_SLACK : 0))
    throw tooLarge(contentLength, maxBytes);
}

function tooLarge(size: number, maxBytes: number): MediaError {
  const message = `The file has ${size} bytes or more; a direct request takes at most ${maxBytes}. Send larger files as a job.`;
  return new MediaError('file_too_large', message);
}

function refuseNonSample({ samples }: ApiDeps, sha256: string): void {
  if (samples.bySha256(sha256) !== null) return;
  const message = 'A test key works with the published sample files only; this file is none of them.';
  throw new MediaError('test_mode_sample_required', message);
}
