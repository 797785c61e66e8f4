/**
 * The owner's end of the socket pair to an engine process.
 *
 *   idle ─→ running ─→ progress … ─→ done, refused, killed or bug ─→ idle
 *     ╲         ╲→ breach
 *      ╲→ breach
 *
 * A breach is a message that is too long, malformed or out of sequence. Nothing is read after it.
 */
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { MediaError } from '#crds/contract/media-error.ts';
import type { WorkerReport } from '#crds/contract/media-job.ts';
import type { Log } from '#crds/process/log.ts';
import { plainText } from '#crds/process/plain-text.ts';
import { parseFromChild } from '#worker-image/sandbox/child-message-schema.ts';
import { MESSAGE_BYTES, type FromChild, type ToChild } from '#worker-image/sandbox/child-messages.ts';
import { messageLine, readMessageLines } from '#worker-image/sandbox/message-lines.ts';

export interface WorkListener {
  readonly onProgress: (percent: number) => void;
  /** Called with the CPU time that the file may use. */
  readonly setBudget: (cpuSeconds: number) => void;
}

export interface EngineMessages {
  send(message: ToChild): void;
  /**
   * Waits for the outcome of one file.
   * @throws MediaError for a refused file and after a breach; EngineKilled when the system killed a tool.
   */
  outcome(listener: WorkListener): Promise<WorkerReport>;
  /** Rejects the pending outcome and all later ones. */
  fail(error: Error): void;
  /** Refuses the file, closes the channel and calls `onBreach`. */
  breach(what: string, excerpt?: string): void;
  readonly isBreached: () => boolean;
  /** Returns the resident memory after the last file, in bytes. */
  readonly rssBytes: () => number;
  readonly leftFiles: () => boolean;
}

export interface EngineMessagesDeps {
  readonly log: Pick<Log, 'warn'>;
  readonly pid: number;
  /** Ends the process. */
  readonly onBreach: () => void;
}

/** The system killed the process or one of its tools, normally for lack of memory: the file may not be the cause. */
export class EngineKilled extends Error {
  override readonly name = 'EngineKilled';
}

interface Work extends WorkListener {
  readonly resolve: (report: WorkerReport) => void;
  readonly reject: (error: Error) => void;
}

/** Maximum size of the unread messages to a process, in bytes. */
const MAX_UNREAD_BYTES = 256 * 1024;
const EXCERPT_CHARACTERS = 200;

/** Reads the messages of the process until its end. */
export function openEngineMessages(deps: EngineMessagesDeps, channel: Socket): EngineMessages {
  const state = { rssBytes: 0, leftFiles: false, isBreached: false, percent: 0, hasBudget: false };
  let work: Work | null = null;
  let failure: Error | null = null;

  const fail = (error: Error): void => {
    failure ??= error;
    work?.reject(error);
    work = null;
  };
  const breach = (what: string, excerpt = ''): void => {
    if (state.isBreached) return;
    state.isBreached = true;
    channel.destroy();
    const { log, pid } = deps;
    log.warn({ pid, reason: what, excerpt: plainText(excerpt, EXCERPT_CHARACTERS) }, 'engine process broke its rules');
    fail(refusedFile(`the engine process sent ${what}`));
    deps.onBreach();
  };
  const progress = ({ onProgress }: Work, percent: number, line: string): void => {
    if (percent <= state.percent) return breach('progress that does not grow', line);
    state.percent = percent;
    onProgress(percent);
  };
  const budget = ({ setBudget }: Work, cpuSeconds: number, line: string): void => {
    if (state.hasBudget) return breach('a second budget', line);
    state.hasBudget = true;
    setBudget(cpuSeconds);
  };
  const receive = (line: string): void => {
    const message = parseFromChild(line);
    if (message === null) return breach('a message that is none', line);
    if (work === null) return breach('a message without a file', line);
    if (message.type === 'progress') return progress(work, message.percent, line);
    if (message.type === 'budget') return budget(work, message.cpuSeconds, line);
    if ('rssBytes' in message) state.rssBytes = message.rssBytes;
    if (message.type === 'done') state.leftFiles ||= message.leftFiles;
    const { resolve, reject } = work;
    work = null;
    if (message.type === 'done') resolve(message.report);
    else reject(errorOf(message));
  };
  readMessageLines(channel, {
    maxBytes: MESSAGE_BYTES,
    onLine: receive,
    onTooLong: (start) => breach(`a message of more than ${MESSAGE_BYTES} bytes`, start),
  });
  // Writing to a process that has just died fails; the 'exit' event reports its end.
  channel.on('error', () => undefined);
  return {
    send: (message) => {
      if (channel.writable && channel.writableLength < MAX_UNREAD_BYTES) channel.write(messageLine(message));
    },
    outcome: ({ onProgress, setBudget }) => {
      Object.assign(state, { percent: 0, hasBudget: false });
      return new Promise((resolve, reject) => {
        if (failure === null) work = { onProgress, setBudget, resolve, reject };
        else reject(failure);
      });
    },
    fail,
    breach,
    isBreached: () => state.isBreached,
    rssBytes: () => state.rssBytes,
    leftFiles: () => state.leftFiles,
  };
}

/** Returns the refusal of a file whose process cannot be trusted. */
export function refusedFile(reason: string): MediaError {
  return new MediaError('processing_failed', 'The file made the engine fail: it is damaged or built to do so.', {
    cause: new Error(reason),
  });
}

/**
 * Returns the error for an ended process. It refuses the file only after a fault of the process, such as SIGSEGV. A
 * prefix command may turn signal n into exit code 128 + n; unshare of util-linux 2.38 turns SIGKILL into exit code 1.
 */
export function crash(code: number | null, signal: NodeJS.Signals | null): Error {
  const number = signal === null ? (code ?? 0) - 128 : constants.signals[signal];
  const end = signal ?? `exit code ${code}`;
  if (number <= 0 || number === constants.signals.SIGKILL)
    return new EngineKilled(`the system ended the engine process (${end}), probably for want of memory`);
  const cause = new Error(`the engine process ended with ${end}`);
  return new MediaError('processing_failed', 'The file made the engine crash: it is damaged or built to do so.', {
    cause,
  });
}

function errorOf(message: Exclude<FromChild, { type: 'done' | 'progress' | 'budget' }>): Error {
  if (message.type === 'killed') return new EngineKilled(message.message);
  if (message.type === 'bug') return new Error(`bug in an engine process: ${message.stack}`);
  const { code, message: text, param, cause } = message;
  return new MediaError(code, text, {
    ...(param === null ? {} : { param }),
    ...(cause === null ? {} : { cause: new Error(cause) }),
  });
}
