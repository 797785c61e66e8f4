import { setImmediate as yieldToEvents } from 'node:timers/promises';
import { MediaError } from '#crds/contract/media-error.ts';

/**
 * Limit of the work for one file, in bytes: minimum, and multiple of the file size. Decoding each stream of a file once takes
 * up to four times its size.
 */
const ALWAYS_BYTES = 64 * 1024 ** 2;
const MAX_RATIO = 16;
/** Number of bytes that are processed before other events are handled. */
const PAUSE_BYTES = 1024 ** 2;

/**
 * Work of measuring the streams of a PDF that their decoded size does not show: text of dictionaries, encoded bytes and
 * what all filters but the last decode. Keywords and streams that overlap make a small file cost any amount of it.
 */
export class WorkBudget {
  readonly #size: number;
  readonly #signal: AbortSignal;
  #spent = 0;
  #unpaused = 0;

  /** @param size Size of the file in bytes. */
  constructor(size: number, signal: AbortSignal) {
    this.#size = size;
    this.#signal = signal;
  }

  /** Adds work in bytes. @throws MediaError processing_failed over the limit. */
  spend(bytes: number): void {
    this.#spent += bytes;
    const allowed = ALWAYS_BYTES + this.#size * MAX_RATIO;
    if (this.#spent > allowed) throw excessiveWork(this.#size, allowed);
  }

  /** Handles other events each time that so many bytes were processed. @throws the signal's reason on abort. */
  async pause(bytes: number): Promise<void> {
    this.#unpaused += bytes;
    if (this.#unpaused >= PAUSE_BYTES) {
      this.#unpaused = 0;
      await yieldToEvents();
    }
    this.#signal.throwIfAborted();
  }
}

function excessiveWork(size: number, allowed: number): MediaError {
  return new MediaError(
    'processing_failed',
    `The streams of the PDF of ${size} bytes overlap or are damaged: measuring them takes more than ${allowed} bytes of work, which is the maximum. Save it again with another program.`,
  );
}
