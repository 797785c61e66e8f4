/**
 * A direct request: the body streams through to the engine and the result streams back. Nothing is
 * stored, nothing is parsed here, and at most a small window of the body is in memory.
 */
import { createHash } from 'node:crypto';
import { Transform, type Readable } from 'node:stream';
import { featuresOf } from '#api/accounts/features-of.ts';
import type { Caller } from '#api/accounts/find-caller.ts';
import type { ApiDeps } from '#api/api-deps.ts';
import { largestCost } from '#api/billing/largest-cost.ts';
import { recordWork, type Charge } from '#api/billing/record-work.ts';
import { reserveDirect } from '#api/billing/reserve-direct.ts';
import { isMultipart, missingFile, readDirectBody, sentName } from '#api/direct/direct-body.ts';
import type { EnginePlace } from '#api/direct/engine-client.ts';
import { directReply } from '#api/direct/direct-reply.ts';
import type { ApiReply, CallerRequest } from '#api/endpoint.ts';
import { readQuery } from '#api/http/query.ts';
import { presetOptions } from '#api/presets/preset-options.ts';
import { lastComponent } from '#api/uploads/upload.ts';
import type { DirectWork } from '#crds/direct-work.ts';
import type { Operation } from '#crds/formats.ts';
import { MediaError } from '#crds/media-error.ts';
import {
  mergeOptions,
  parseJsonOptions,
  parseQueryOptions,
  resolveOptions,
  type FlatOptions,
} from '#crds/options/options.ts';
import { fileLimits, LIMITS, PLANS } from '#crds/plans.ts';
import type { EngineResult } from '#crds/result.ts';
import { faultPoint } from '#crds/shared/fault-point.ts';

/** Query names of convert that stand for `convert.…`. */
const SHORT_NAMES: Readonly<Record<Operation, readonly string[]>> = {
  compress: [],
  convert: ['to', 'page', 'dpi'],
  strip_metadata: ['to', 'page', 'dpi'],
};

export async function processDirect(deps: ApiDeps, request: CallerRequest, operation: Operation): Promise<ApiReply> {
  const query = await readDirectQuery(deps, request, operation);
  refuseLength(request, maxDirectBytes(request.caller));
  // Money is decided first, as for every request. In a crowd a refusal is to cost nothing, also not that.
  let place = deps.engine.isCrowded() ? await deps.engine.takePlace(request.signal) : null;
  try {
    const release = await reserve(deps, request, { operation, query });
    try {
      place ??= await deps.engine.takePlace(request.signal);
      return await processAt(deps, request, { operation, query, place });
    } finally {
      await release();
    }
  } finally {
    place?.leave();
  }
}

interface AskedWork {
  readonly operation: Operation;
  readonly query: DirectQuery;
}

/** A multipart body gives its name and options later: without them the request may cost more, never less. */
function reserve(deps: ApiDeps, request: CallerRequest, { operation, query }: AskedWork): Promise<() => Promise<void>> {
  const { caller } = request;
  const microUsd = largestCost({
    lane: 'direct',
    operation,
    filename: query.filename ?? sentName(request),
    options: resolveOptions(
      isMultipart(request) ? new Map() : mergeOptions(query.preset, query.queryOptions),
      operation,
    ),
    limits: fileLimits(caller.account.plan),
  });
  return reserveDirect(deps, { caller, requestId: request.id, microUsd });
}

async function processAt(
  deps: ApiDeps,
  request: CallerRequest,
  { operation, query: { filename, preset, queryOptions }, place }: AskedWork & { readonly place: EnginePlace },
): Promise<ApiReply> {
  const { caller } = request;
  const maxBytes = maxDirectBytes(caller);
  const body = readDirectBody(request);
  const seen = watch(body.file, maxBytes);
  let handedOver = false;
  const work = (): DirectWork => {
    if (seen.size() === 0) throw missingFile();
    if (!caller.livemode) refuseNonSample(deps, seen.sha256());
    const late = body.late();
    const json = parseJsonOptions(late.options === undefined ? {} : late.options);
    const options = mergeOptions(preset, json, queryOptions);
    const asked = workOf(caller, { operation, options, filename: filename ?? late.filename });
    handedOver = true;
    return asked;
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
    // An answer that fails must not be billed: it is only known once the ledger has answered.
    return deps.database.transaction((tx) => recordWork(deps, tx, counted), { repeatable: true });
  };
  try {
    const answer = await place.process({ file: seen.file, work });
    const { result } = answer.report;
    await faultPoint('before-direct-count');
    const { billed } = await count(result);
    await faultPoint('after-direct-count');
    return directReply({ result, body: answer.body, filename: filename ?? body.late().filename, billed });
  } catch (error) {
    // A refusal before the work began counts nowhere; a file that failed counts as a free request.
    if (handedOver && error instanceof MediaError && error.code !== 'engine_busy') await count(null);
    throw error;
  }
}

interface DirectQuery {
  readonly filename: string | null;
  /** Of the preset that it names. */
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
  // Refused before the body comes, unless its own options still count.
  if (!isMultipart(request)) resolveOptions(mergeOptions(preset, queryOptions), operation);
  return { filename, preset, queryOptions };
}

function workOf(
  caller: Caller,
  input: { operation: Operation; options: FlatOptions; filename: string | null },
): DirectWork {
  const options = resolveOptions(input.options, input.operation);
  if (input.operation === 'convert' && options.convert.to === null) {
    throw new MediaError('invalid_options', 'Convert needs a target format in `to`.', { param: 'convert.to' });
  }
  return {
    operation: input.operation,
    options,
    limits: fileLimits(caller.account.plan),
    features: featuresOf(caller.account),
    filename: input.filename,
    tenant: tenantOf(caller),
  };
}

/** Account ids hold a hundred random bits: nobody finds one from its hash. */
function tenantOf({ account, livemode }: Caller): string {
  return createHash('sha256')
    .update(`${account.id} ${livemode ? 'live' : 'test'}`)
    .digest('base64url');
}

function maxDirectBytes({ account, livemode }: Caller): number {
  return livemode ? PLANS[account.plan].maxSyncBytes : LIMITS.testDirectBytes;
}

/** Room for the boundaries and headers of a multipart body around a file of the largest size. */
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

interface Watched {
  readonly file: Readable;
  readonly size: () => number;
  /** Hex, of all bytes. */
  readonly sha256: () => string;
}

/** Counts and hashes the file on its way, and ends it with file_too_large. */
function watch(file: Readable, maxBytes: number): Watched {
  const hash = createHash('sha256');
  let size = 0;
  const passing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      hash.update(chunk);
      if (size > maxBytes) done(tooLarge(size, maxBytes));
      else done(null, chunk);
    },
  });
  file.once('error', (error) => passing.destroy(error));
  return { file: file.pipe(passing), size: () => size, sha256: () => hash.digest('hex') };
}

function refuseNonSample({ samples }: ApiDeps, sha256: string): void {
  if (samples.bySha256(sha256) !== null) return;
  const message = 'A test key works with the published sample files only; this file is none of them.';
  throw new MediaError('test_mode_sample_required', message);
}
