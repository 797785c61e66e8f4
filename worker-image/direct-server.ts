/**
 * The engine's HTTP port: `crds/direct-work.ts` is its contract. A request holds one place from its
 * headers to the last byte of its answer.
 *
 *   no place → engine_busy, before the body comes
 *   place → 100 Continue → body to a private file → work known from the trailer → pool → output streamed → file removed
 *
 * A client that goes away ends the work at any point.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  directWorkSchema,
  fromHeader,
  REPORT_HEADER,
  toHeader,
  WORK_TRAILER,
  type DirectWork,
  type EngineRefusal,
} from '#crds/direct-work.ts';
import { FORMATS } from '#crds/formats.ts';
import { MediaError, toJobError } from '#crds/media-error.ts';
import { faultPoint } from '#crds/shared/fault-point.ts';
import type { Log } from '#crds/shared/log.ts';
import type { DirectMetrics } from '#worker-image/direct-metrics.ts';
import type { DirectPlace, DirectPlaces } from '#worker-image/direct-places.ts';
import type { ChildPool } from '#worker-image/engine/child-pool.ts';
import { firstLook } from '#worker-image/engine/identify/first-look.ts';
import type { ProcessedFile } from '#worker-image/engine/process-file.ts';
import { makeWorkDirectory, removeWorkDirectory } from '#worker-image/work-directory.ts';

export interface DirectServerDeps {
  readonly pool: Pick<ChildPool, 'process' | 'expect'>;
  readonly places: DirectPlaces;
  readonly metrics: Pick<DirectMetrics, 'worked' | 'turnedAway'>;
  readonly log: Log;
  readonly versions: Readonly<Record<string, string>>;
}

export interface DirectServerOptions {
  /** Folder for the private directories. */
  readonly root: string;
  /** From the last byte of the input to the end of the work. */
  readonly maxSeconds: number;
  readonly maxBytes: number;
}

export function makeDirectServer(deps: DirectServerDeps, options: DirectServerOptions): Server {
  const receive = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.method !== 'POST' || request.url !== '/process') return refuse(request, response, notFound());
    const place = deps.places.take();
    if (place === null) {
      deps.metrics.turnedAway();
      return refuse(request, response, busy());
    }
    if (request.headers.expect !== undefined) response.writeContinue();
    void answer({ ...deps, place }, options, { request, response }).then((refusal) => {
      place.leave();
      if (refusal !== null) refuse(request, response, refusal);
    });
  };
  const server = createServer({ requestTimeout: 0 }, receive);
  // A request that asks first has not sent its body yet.
  return server.on('checkContinue', (request, response) => server.emit('request', request, response));
}

/** Of one request. */
type AnswerDeps = DirectServerDeps & { readonly place: DirectPlace };

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Sends the output; a refusal is given back, to be sent when nothing of the request is left. */
async function answer(
  deps: AnswerDeps,
  options: DirectServerOptions,
  { request, response }: Exchange,
): Promise<MediaError | null> {
  const stop = new AbortController();
  response.once('close', () => stop.abort(new Error('the client went away')));
  let directory: string | null = null;
  try {
    directory = await makeWorkDirectory(options.root);
    const path = join(directory, 'input');
    const onStart = (head: Buffer): void => expectKind(deps.pool, head);
    await receive(request, path, { maxBytes: options.maxBytes, signal: stop.signal, onStart });
    const work = readWork(request);
    const timer = setTimeout(() => stop.abort(timeLimit(options.maxSeconds)), options.maxSeconds * 1000);
    const file = await measured(deps, work, { path, directory, signal: stop.signal }).finally(() =>
      clearTimeout(timer),
    );
    await faultPoint('before-engine-answer');
    await send(response, file);
    return null;
  } catch (error) {
    if (!response.destroyed && !response.headersSent) return logged(deps.log, error);
    response.destroy();
    return null;
  } finally {
    if (directory !== null)
      await removeWorkDirectory(directory).catch((error: unknown) =>
        deps.log.error({ err: error }, 'private files not removed'),
      );
  }
}

/** The request itself is never destroyed: its refusal goes out on the same connection. */
async function receive(
  request: IncomingMessage,
  path: string,
  how: { maxBytes: number; signal: AbortSignal; onStart: (head: Buffer) => void },
): Promise<void> {
  let size = 0;
  const cap = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (size === 0) how.onStart(chunk);
      size += chunk.length;
      done(size > how.maxBytes ? tooLarge(how.maxBytes) : null, chunk);
    },
  });
  request.once('error', (error) => cap.destroy(error));
  request.pipe(cap);
  await pipeline(cap, createWriteStream(path, { mode: 0o600 }), { signal: how.signal });
}

function expectKind(pool: Pick<ChildPool, 'expect'>, head: Buffer): void {
  const kind = firstLook(head);
  if (kind !== null) pool.expect(kind);
}

function readWork({ trailers }: IncomingMessage): DirectWork {
  const text = trailers[WORK_TRAILER];
  if (text === undefined)
    throw new MediaError('bad_request', 'The request to the engine ended without saying what to do with the file.');
  return directWorkSchema.parse(fromHeader(text));
}

async function measured(
  { pool, metrics, versions, place }: AnswerDeps,
  { tenant, ...work }: DirectWork,
  input: { path: string; directory: string; signal: AbortSignal },
): Promise<ProcessedFile> {
  const { operation } = work;
  const { path, directory, signal } = input;
  const startedAt = performance.now();
  const seconds = (): number => (performance.now() - startedAt) / 1000;
  try {
    const file = await pool.process({
      tenant,
      task: { ...work, lane: 'direct', path, directory },
      versions,
      signal,
      onProgress: () => undefined,
      onStart: (waitedMs) => place.begins(waitedMs),
    });
    place.ends();
    metrics.worked({ operation, kind: file.report.result.kind, outcome: 'done', seconds: seconds() });
    return file;
  } catch (error) {
    metrics.worked({
      operation,
      kind: 'unknown',
      outcome: error instanceof MediaError ? error.code : 'internal',
      seconds: seconds(),
    });
    throw error;
  }
}

async function send(response: ServerResponse, { path, report }: ProcessedFile): Promise<void> {
  const { size } = await stat(path);
  response.writeHead(200, {
    'content-type': FORMATS[report.result.output_format].mediaType,
    'content-length': size,
    [REPORT_HEADER]: toHeader(report),
  });
  await pipeline(createReadStream(path), response);
}

/** What is left of the body is read and forgotten, so that the answer is not lost with the connection. */
function refuse(request: IncomingMessage, response: ServerResponse, error: MediaError): void {
  const { code, message, param } = error;
  response.writeHead(error.status ?? 500, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ code, message, param } satisfies EngineRefusal));
  request.unpipe();
  request.resume();
}

function logged(log: Log, error: unknown): MediaError {
  if (error instanceof MediaError) {
    log.info({ code: error.code, reason: error.message, err: error.cause }, 'file refused');
    return error;
  }
  log.error({ err: error }, 'direct request failed');
  const { code, message } = toJobError(error);
  return new MediaError(code, message, { cause: error });
}

function tooLarge(maxBytes: number): MediaError {
  return new MediaError(
    'file_too_large',
    `The file has more than the ${maxBytes} bytes of a direct request. Create a job for it.`,
  );
}

function notFound(): MediaError {
  return new MediaError('not_found', 'The engine has POST /process only.');
}

function busy(): MediaError {
  return new MediaError(
    'engine_busy',
    'All engines are busy and as many requests wait as can be served soon; nothing was processed. Send the request again.',
  );
}

function timeLimit(seconds: number): MediaError {
  return new MediaError(
    'timeout',
    `The work took longer than the ${seconds} seconds of a direct request. Create a job for this file.`,
  );
}
