/**
 * HTTP server of the engine, with the contract `crds/contract/direct-work.ts`. A request is admitted by its headers. It
 * requests an engine process once its body is complete.
 *
 *   shed → engine_busy, before the body is read
 *   admitted → 100 Continue → body to a private file → work read from the trailer → pool → output sent → file removed
 *                                       ╲                                                      ╲→ connection closed
 *                                        ╲→ engine_busy: another request needs the space of a slow transfer
 *
 * A client that disconnects aborts the work at any point.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import {
  directWorkSchema,
  fromHeader,
  TENANT_HEADER,
  WORK_TRAILER,
  type DirectWork,
  type EngineRefusal,
} from '#crds/contract/direct-work.ts';
import { DIRECT_KINDS } from '#crds/catalogue/formats.ts';
import { possibleKinds } from '#crds/contract/first-bytes.ts';
import { MediaError, toJobError } from '#crds/contract/media-error.ts';
import type { Log } from '#crds/process/log.ts';
import type { LaneAdmission, AdmissionControl } from '#worker-image/direct/admission-control.ts';
import type { DirectMetrics } from '#worker-image/direct/direct-metrics.ts';
import type { EngineOutput } from '#worker-image/sandbox/sandboxed-engine.ts';
import type { ChildPool } from '#worker-image/sandbox/child-pool.ts';
import { sendOutput } from '#worker-image/direct/send-output.ts';
import { declaredBody, spoolBody, type DeclaredBody } from '#worker-image/direct/spool-body.ts';
import { makeWorkDirectory, removeWorkDirectory } from '#worker-image/work-directory.ts';

export interface DirectServerDeps {
  readonly pool: Pick<ChildPool, 'process' | 'expect'>;
  readonly admissionControl: Pick<AdmissionControl, 'acquire'>;
  readonly metrics: Pick<DirectMetrics, 'worked' | 'shed'>;
  readonly log: Log;
  readonly versions: Readonly<Record<string, string>>;
}

export interface DirectServerOptions {
  /** Folder for the private directories. */
  readonly root: string;
  /** Maximum time from the last byte of the input to the result. */
  readonly maxSeconds: number;
  readonly maxBytes: number;
}

/** Handles the requests of a server, by default a new one. The service passes that of `engine-listener.ts`. */
export function makeDirectServer(
  deps: DirectServerDeps,
  options: DirectServerOptions,
  server: Server = createServer({ requestTimeout: 0 }),
): Server {
  const receive = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.method !== 'POST' || request.url !== '/process') return refuse(request, response, notFound());
    const declared = declaredBody(request, options.maxBytes);
    const stop = new AbortController();
    const admission = deps.admissionControl.acquire({ ...declared, onRevoke: () => stop.abort(spoolRevoked()) });
    if (admission === null) {
      deps.metrics.shed();
      return refuse(request, response, busy());
    }
    if (request.headers.expect !== undefined) response.writeContinue();
    void handleRequest({ ...deps, admission }, options, { request, response, declared, stop }).then((refusal) => {
      admission.release();
      if (refusal !== null) refuse(request, response, refusal);
    });
  };
  server.on('request', receive);
  // A request with `Expect: 100-continue` has not sent its body yet.
  return server.on('checkContinue', (request, response) => server.emit('request', request, response));
}

type RequestDeps = DirectServerDeps & { readonly admission: LaneAdmission };

interface AdmittedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly declared: DeclaredBody;
  readonly stop: AbortController;
}

/** Processes a request and sends the output. Returns a refusal, to be sent once the private files are removed. */
async function handleRequest(
  deps: RequestDeps,
  options: DirectServerOptions,
  { request, response, declared, stop }: AdmittedRequest,
): Promise<MediaError | null> {
  response.once('close', () => {
    if (!response.writableFinished) stop.abort(new Error('the client disconnected'));
  });
  let directory: string | null = null;
  try {
    directory = makeWorkDirectory(options.root);
    const path = join(directory, 'input');
    const onStart = (head: Buffer): void => expectKind(deps.pool, head);
    const { maxBytes } = options;
    await spoolBody(deps.admission, request, { path, declared, maxBytes, signal: stop.signal, onStart });
    const work = readWork(request, declared);
    const timer = setTimeout(() => stop.abort(timeLimit(options.maxSeconds)), options.maxSeconds * 1000);
    const file = await processMeasured(deps, work, { path, directory, signal: stop.signal }).finally(() =>
      clearTimeout(timer),
    );
    await sendOutput(deps.admission, response, file, stop.signal);
    // Whoever sends a PDF often sends more, and its tools take long to start.
    if (file.report.result.kind === 'pdf') deps.pool.expect('pdf');
    return null;
  } catch (error) {
    if (!response.destroyed && !response.headersSent) return logAndConvert(deps.log, error);
    if (stop.signal.reason instanceof MediaError) deps.log.info('slow response ended: other requests need its space');
    response.destroy();
    return null;
  } finally {
    if (directory !== null)
      await removeWorkDirectory(directory).catch((error: unknown) =>
        deps.log.error({ err: error }, 'private files not removed'),
      );
  }
}

function expectKind(pool: Pick<ChildPool, 'expect'>, head: Buffer): void {
  const [kind, ...others] = possibleKinds(head);
  if (kind !== undefined && others.length === 0 && DIRECT_KINDS.includes(kind)) pool.expect(kind);
}

/** Parses the trailer. @throws MediaError bad_request when it is missing or names another tenant than the header. */
function readWork({ trailers, headers }: IncomingMessage, declared: DeclaredBody): DirectWork {
  const text = trailers[WORK_TRAILER];
  if (text === undefined)
    throw new MediaError('bad_request', `The request to the engine lacks the trailer ${WORK_TRAILER}.`);
  const work = directWorkSchema.parse(fromHeader(text));
  if (headers[TENANT_HEADER] !== undefined && work.tenant !== declared.tenant)
    throw new MediaError(
      'bad_request',
      'The header and the trailer of the request to the engine name different tenants.',
    );
  return work;
}

async function processMeasured(
  { pool, metrics, versions, admission }: RequestDeps,
  { tenant, ...work }: DirectWork,
  input: { path: string; directory: string; signal: AbortSignal },
): Promise<EngineOutput> {
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
      onStart: (waitedMs) => admission.started(waitedMs),
    });
    admission.ended();
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

/** Sends a refusal and discards the rest of the body: with unread bytes the client could lose the response. */
function refuse(request: IncomingMessage, response: ServerResponse, error: MediaError): void {
  const { code, message, param } = error;
  response.writeHead(error.status ?? 500, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ code, message, param } satisfies EngineRefusal));
  request.unpipe();
  request.resume();
}

/** Logs an error and returns the refusal for the caller. */
function logAndConvert(log: Log, error: unknown): MediaError {
  if (error instanceof MediaError) {
    log.info({ code: error.code, reason: error.message, err: error.cause }, 'file refused');
    return error;
  }
  log.error({ err: error }, 'direct request failed');
  const { code, message } = toJobError(error);
  return new MediaError(code, message, { cause: error });
}

function notFound(): MediaError {
  return new MediaError('not_found', 'The engine serves POST /process only.');
}

function busy(): MediaError {
  return new MediaError(
    'engine_busy',
    'All engines are busy and their queue is full. The file was not processed. Send the request again.',
  );
}

function spoolRevoked(): MediaError {
  return new MediaError(
    'engine_busy',
    'The engine needed the space of this body for other requests before it was complete. The file was not processed. Send the request again.',
  );
}

function timeLimit(seconds: number): MediaError {
  return new MediaError(
    'timeout',
    `The work took longer than the ${seconds} seconds of a direct request. Create a job for this file.`,
  );
}
