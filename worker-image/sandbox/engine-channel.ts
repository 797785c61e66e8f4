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
import { messageLine, readMessageLines } from '#crds/process/message-lines.ts';
import { parseFromChild } from '#worker-image/sandbox/child-message-schema.ts';
import { MESSAGE_BYTES, type FromChild, type ToChild } from '#worker-image/sandbox/engine-protocol.ts';

export interface WorkListener {
  readonly onProgress: (percent: number) => void;
  /** Called with the CPU time that the file may use. */
  readonly setBudget: (cpuSeconds: number) => void;
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

interface PendingFile extends WorkListener {
  readonly resolve: (report: WorkerReport) => void;
  readonly reject: (error: Error) => void;
  /** Last progress that was reported. */
  percent: number;
  hasBudget: boolean;
}

/** Maximum size of the unread messages to a process, in bytes. */
const MAX_UNREAD_BYTES = 256 * 1024;
const EXCERPT_CHARACTERS = 200;

/** Messages to and from one process, which are read until its end. */
export class EngineChannel {
  readonly #deps: EngineMessagesDeps;
  readonly #channel: Socket;
  #pending: PendingFile | null = null;
  #failure: Error | null = null;
  #isBreached = false;
  #rssBytes = 0;
  #mustBeReplaced = false;

  constructor(deps: EngineMessagesDeps, channel: Socket) {
    this.#deps = deps;
    this.#channel = channel;
    readMessageLines(channel, {
      maxBytes: MESSAGE_BYTES,
      onLine: (line) => this.#receive(line),
      onTooLong: (start) => this.breach(`a message of more than ${MESSAGE_BYTES} bytes`, start),
    });
    // Writing to a process that has just died fails; the 'exit' event reports its end.
    channel.on('error', () => undefined);
  }

  /** Returns whether the process violated its protocol: none of its results may be used. */
  isBreached(): boolean {
    return this.#isBreached;
  }

  /** Returns the resident memory after the last file, in bytes. */
  rssBytes(): number {
    return this.#rssBytes;
  }

  /** Returns whether the process must not open another file, as it reported. */
  mustBeReplaced(): boolean {
    return this.#mustBeReplaced;
  }

  send(message: ToChild): void {
    const { writable, writableLength } = this.#channel;
    if (writable && writableLength < MAX_UNREAD_BYTES) this.#channel.write(messageLine(message));
  }

  /**
   * Waits for the outcome of one file.
   * @throws MediaError for a refused file and after a breach; EngineKilled when the system killed a tool.
   */
  outcome({ onProgress, setBudget }: WorkListener): Promise<WorkerReport> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== null) return reject(this.#failure);
      this.#pending = { onProgress, setBudget, resolve, reject, percent: 0, hasBudget: false };
    });
  }

  /** Rejects the pending outcome and all later ones. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#pending?.reject(error);
    this.#pending = null;
  }

  /** Refuses the file, closes the channel and calls `onBreach`. */
  breach(what: string, excerpt = ''): void {
    if (this.#isBreached) return;
    this.#isBreached = true;
    this.#channel.destroy();
    const { log, pid, onBreach } = this.#deps;
    log.warn(
      { pid, reason: what, excerpt: plainText(excerpt, EXCERPT_CHARACTERS) },
      'engine process violated its protocol',
    );
    this.fail(refusedFile(`the engine process sent ${what}`));
    onBreach();
  }

  #receive(line: string): void {
    const message = parseFromChild(line);
    const pending = this.#pending;
    if (message === null) return this.breach('a malformed message', line);
    if (pending === null) return this.breach('a message without a file', line);
    if (message.type === 'progress') return this.#progress(pending, message.percent, line);
    if (message.type === 'budget') return this.#budget(pending, message.cpuSeconds, line);
    if ('rssBytes' in message) this.#rssBytes = message.rssBytes;
    this.#pending = null;
    if (message.type !== 'done') return pending.reject(errorOf(message));
    this.#mustBeReplaced ||= message.mustBeReplaced;
    pending.resolve(message.report);
  }

  #progress(pending: PendingFile, percent: number, line: string): void {
    if (percent <= pending.percent) return this.breach('progress that does not grow', line);
    pending.percent = percent;
    pending.onProgress(percent);
  }

  #budget(pending: PendingFile, cpuSeconds: number, line: string): void {
    if (pending.hasBudget) return this.breach('a second budget', line);
    pending.hasBudget = true;
    pending.setBudget(cpuSeconds);
  }
}

/** Returns the refusal of a file whose process cannot be trusted. */
export function refusedFile(reason: string): MediaError {
  return new MediaError(
    'processing_failed',
    'The engine failed on the file, which is damaged or malicious. Save it again with another program.',
    {
      cause: new Error(reason),
    },
  );
}

/**
 * Returns the error for an ended process. It refuses the file only after a fault of the process, such as SIGSEGV. A
 * prefix command may turn signal n into exit code 128 + n; unshare of util-linux 2.38 turns SIGKILL into exit code 1.
 */
export function crash(code: number | null, signal: NodeJS.Signals | null): Error {
  const number = signal === null ? (code ?? 0) - 128 : constants.signals[signal];
  const end = signal ?? `exit code ${code}`;
  if (number <= 0 || number === constants.signals.SIGKILL)
    return new EngineKilled(`the system ended the engine process (${end}), probably for lack of memory`);
  const cause = new Error(`the engine process ended with ${end}`);
  return new MediaError(
    'processing_failed',
    'The engine crashed on the file, which is damaged or malicious. Save it again with another program.',
    {
      cause,
    },
  );
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
