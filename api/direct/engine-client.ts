/** How the API speaks to the engine of the direct lane: the contract is `crds/direct-work.ts`. */
import { Agent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import {
  engineRefusalSchema,
  fromHeader,
  REPORT_HEADER,
  toHeader,
  WORK_TRAILER,
  type DirectWork,
} from '#crds/direct-work.ts';
import { MediaError } from '#crds/media-error.ts';
import { workerReportSchema, type WorkerReport } from '#crds/media-job.ts';
import { LIMITS } from '#crds/plans.ts';

export interface EngineAnswer {
  readonly report: WorkerReport;
  /** The produced file. */
  readonly body: Readable;
}

/** Of one request, from now to the end of its answer. */
export interface EnginePlace {
  /**
   * Streams the file to the engine; what to do with it is asked for once its last byte has gone out.
   * An error of the file's stream or of `work` cuts the request off: then nothing is processed.
   */
  process(input: { file: Readable; work: () => DirectWork }): Promise<EngineAnswer>;
  /** Gives it back if it was not used. */
  leave(): void;
}

export interface EngineClient {
  /**
   * Asks the engine for a place, before the body goes.
   * @throws MediaError engine_busy
   */
  takePlace(signal: AbortSignal): Promise<EnginePlace>;
  /** Whether it has turned somebody away in the last seconds. */
  isCrowded(): boolean;
  close(): void;
}

/** The engine answers within its own limit; ours only ends a wait for an engine that hangs. */
const ANSWER_MS = (LIMITS.directSeconds + 10) * 1000;
const CROWD_MS = 5000;
/** To reach an engine. */
const TRIES = 4;
const AGAIN_MS = 50;
const REFUSAL_BYTES = 64 * 1024;

export function makeEngineClient(engineUrl: string): EngineClient {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 16 });
  let busyAt = -Infinity;
  return {
    takePlace: async (signal) => {
      const { request, answered, early } = await ask({ engineUrl, agent, signal });
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
          // Whichever fails first is the reason; an early answer wins over the broken sending.
          sent.catch(() => undefined);
          const response = await Promise.race([answered, sent.then(() => answered)]);
          return readAnswer(response);
        },
        leave: () => {
          if (!isUsed) request.destroy();
        },
      };
    },
    isCrowded: () => performance.now() - busyAt < CROWD_MS,
    close: () => agent.destroy(),
  };
}

interface Asked {
  readonly request: ClientRequest;
  readonly answered: Promise<IncomingMessage>;
  /** An answer before the body; null: it may come. */
  readonly early: IncomingMessage | null;
}

/**
 * Asks with the headers alone. A kept connection may end at the moment that it is used, as those to an engine do that is
 * replaced; nothing was sent then, so another one is taken.
 * @throws MediaError engine_busy
 */
async function ask(
  { engineUrl, agent, signal }: { engineUrl: string; agent: Agent; signal: AbortSignal },
  triesLeft = TRIES - 1,
): Promise<Asked> {
  const request = httpRequest(new URL('/process', engineUrl), {
    method: 'POST',
    agent,
    signal,
    headers: {
      'content-type': 'application/octet-stream',
      'transfer-encoding': 'chunked',
      trailer: WORK_TRAILER,
      expect: '100-continue',
    },
  });
  const answered = answerOf(request);
  answered.catch(() => undefined);
  const continues = new Promise<null>((go) => request.once('continue', () => go(null)));
  try {
    return { request, answered, early: await Promise.race([answered, continues]) };
  } catch (error) {
    if (triesLeft === 0 || !isCutOff(error as Error)) throw error;
    await delay(AGAIN_MS);
    return ask({ engineUrl, agent, signal }, triesLeft - 1);
  }
}

function isCutOff({ cause }: Error): boolean {
  const { code } = (cause ?? {}) as NodeJS.ErrnoException;
  return code === 'ECONNRESET' || code === 'ECONNREFUSED' || code === 'EPIPE';
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

function answerOf(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.setTimeout(ANSWER_MS, () => request.destroy(new Error('the engine did not answer in time')));
    request.once('response', resolve);
    request.once('error', (error: NodeJS.ErrnoException) => reject(engineAway(error)));
  });
}

async function readAnswer(response: IncomingMessage): Promise<EngineAnswer> {
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
  if (!parsed.success) return new Error(`the engine answered ${response.statusCode} without a refusal`);
  const { code, message, param } = parsed.data;
  return new MediaError(code, message, param === null ? {} : { param });
}

function engineAway(error: NodeJS.ErrnoException): Error {
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
