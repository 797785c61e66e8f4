/** Client of the direct lane's engine. The contract is `crds/contract/direct-work.ts`. */
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { engineConnection, type EngineAddress, type EngineConnection } from '#api/direct/engine-connection.ts';
import {
  BODY_BYTES_HEADER,
  engineRefusalSchema,
  fromHeader,
  REPORT_HEADER,
  TENANT_HEADER,
  toHeader,
  WORK_TRAILER,
  type DirectWork,
} from '#crds/contract/direct-work.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { workerReportSchema, type WorkerReport } from '#crds/contract/media-job.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';

export interface EngineResponse {
  readonly report: WorkerReport;
  /** The produced file. */
  readonly body: Readable;
}

/** Slot of one request in the engine, until the end of its response. */
export interface EngineSlot {
  /**
   * Streams the file to the engine. `work` is called after the last byte was sent.
   * An error of the file's stream or of `work` aborts the request: then nothing is processed.
   */
  process(input: { file: Readable; work: () => DirectWork }): Promise<EngineResponse>;
  /** Releases an unused slot. */
  release(): void;
}

/** Properties of a body that the engine gets before the body. */
export interface AnnouncedBody {
  /** Opaque identifier of account and mode. */
  readonly tenant: string;
  /** Maximum number of bytes. */
  readonly bytes: number;
  readonly signal: AbortSignal;
}

export interface EngineClient {
  /** Connects once, so that the address of the engine is known when DNS fails later. Never rejects. */
  connect(): Promise<void>;
  /**
   * Acquires a slot of the engine before the body is sent.
   * @throws MediaError engine_busy
   */
  acquireSlot(body: AnnouncedBody): Promise<EngineSlot>;
  /** Returns whether the engine has refused a request within `OVERLOADED_MS`. */
  isOverloaded(): boolean;
  close(): void;
}

/** Response timeout in milliseconds, above the engine's own: it only ends requests to an engine that hangs. */
const RESPONSE_TIMEOUT_MS = (LIMITS.directSeconds + 10) * 1000;
/** Time for which the engine counts as overloaded after a refusal, in milliseconds. */
const OVERLOADED_MS = 5000;
/** Maximum time of the first connection, in milliseconds. */
const CONNECT_MS = 10_000;
/** Maximum number of attempts to connect. */
const MAX_ATTEMPTS = 4;
const RETRY_DELAY_MS = 50;
/** Maximum size of a refusal that is read, in bytes. */
const REFUSAL_BYTES = 64 * 1024;

/** Returns a client of the engine at an address. @throws ConfigError when the address needs a key and has none. */
export function makeEngineClient(address: EngineAddress): EngineClient {
  const connection = engineConnection(address);
  let busyAt = -Infinity;
  return {
    connect: () => connectOnce(connection),
    acquireSlot: async (body) => {
      const { request, response, early } = await requestSlot({ connection, body });
      if (early !== null) {
        request.end();
        const refusal = await readRefusal(early);
        if (refusal instanceof MediaError && refusal.code === 'engine_busy') busyAt = performance.now();
        throw refusal;
      }
      let isUsed = false;
      return {
        process: async ({ file, work }) => {
          isUsed = true;
          const sent = send(request, file, work);
          // An early response explains why sending failed, so it takes precedence over the error of `send`.
          sent.catch(() => undefined);
          const received = await Promise.race([response, sent.then(() => response)]);
          return readResponse(received).catch((error: unknown) => {
            // The engine refused the body before its end and does not read the rest.
            if (!request.writableEnded) request.destroy();
            throw error;
          });
        },
        release: () => {
          if (!isUsed) request.destroy();
        },
      };
    },
    isOverloaded: () => performance.now() - busyAt < OVERLOADED_MS,
    close: () => connection.close(),
  };
}

/** Sends a request that the engine refuses. */
function connectOnce(connection: EngineConnection): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const request = connection.request('/', { method: 'GET', timeout: CONNECT_MS });
  request.once('response', (response) => response.resume());
  request.once('timeout', () => request.destroy());
  request.on('error', () => undefined);
  request.once('close', resolve);
  request.end();
  return promise;
}

interface SlotRequest {
  readonly request: ClientRequest;
  readonly response: Promise<IncomingMessage>;
  /** Response before the body, a refusal; null when the engine accepts the body. */
  readonly early: IncomingMessage | null;
}

/**
 * Sends the headers alone. A kept-alive connection may close as it is reused, for example when the engine is replaced.
 * No part of the body was sent then, so the request is retried on another connection.
 * @throws MediaError engine_busy
 */
async function requestSlot(
  { connection, body }: { connection: EngineConnection; body: AnnouncedBody },
  attemptsLeft = MAX_ATTEMPTS - 1,
): Promise<SlotRequest> {
  const request = connection.request('/process', {
    method: 'POST',
    signal: body.signal,
    headers: {
      'content-type': 'application/octet-stream',
      'transfer-encoding': 'chunked',
      trailer: WORK_TRAILER,
      [TENANT_HEADER]: body.tenant,
      [BODY_BYTES_HEADER]: body.bytes,
      expect: '100-continue',
    },
  });
  const response = responseOf(request);
  response.catch(() => undefined);
  const continues = new Promise<null>((resolve) => request.once('continue', () => resolve(null)));
  try {
    return { request, response, early: await Promise.race([response, continues]) };
  } catch (error) {
    if (attemptsLeft === 0 || !isConnectionError(error as Error)) throw error;
    await delay(RETRY_DELAY_MS);
    return requestSlot({ connection, body }, attemptsLeft - 1);
  }
}

function isConnectionError({ cause }: Error): boolean {
  const { code } = (cause ?? {}) as NodeJS.ErrnoException;
  // An engine that is starting has no socket yet.
  return code === 'ECONNRESET' || code === 'ECONNREFUSED' || code === 'ENOENT' || code === 'EPIPE';
}

async function send(request: ClientRequest, file: Readable, work: () => DirectWork): Promise<void> {
  try {
    await pipeline(file, request, { end: false });
    request.addTrailers({ [WORK_TRAILER]: toHeader(work()) });
    request.end();
  } catch (error) {
    request.destroy();
    throw error;
  }
}

function responseOf(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.setTimeout(RESPONSE_TIMEOUT_MS, () => request.destroy(new Error('the engine did not respond in time')));
    request.once('response', resolve);
    request.once('error', (error: NodeJS.ErrnoException) => reject(engineUnavailable(error)));
  });
}

async function readResponse(response: IncomingMessage): Promise<EngineResponse> {
  const report = response.headers[REPORT_HEADER];
  if (response.statusCode === 200 && typeof report === 'string') {
    return { report: workerReportSchema.parse(fromHeader(report)), body: response };
  }
  throw await readRefusal(response);
}

async function readRefusal(response: IncomingMessage): Promise<Error> {
  let text = '';
  for await (const chunk of response) {
    text += String(chunk);
    if (text.length > REFUSAL_BYTES) break;
  }
  const parsed = engineRefusalSchema.safeParse(parseOrNull(text));
  if (!parsed.success) return new Error(`the engine responded with status ${response.statusCode} and no refusal`);
  const { code, message, param } = parsed.data;
  return new MediaError(code, message, param === null ? {} : { param });
}

function engineUnavailable(error: NodeJS.ErrnoException): Error {
  if (error instanceof MediaError || error.name === 'AbortError') return error;
  const message = 'The engine is not available at the moment; nothing was processed. Send the request again.';
  return new MediaError('engine_busy', message, { cause: error });
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
