/** Retries a transfer after faults of the network and of servers that are overloaded or restarting. */
import { backoffMs } from '#crds/process/backoff.ts';

/** Clock and randomness of a transfer. */
export interface RetryDeps {
  /** Returns the time of a monotonic clock, in milliseconds. */
  readonly now: () => number;
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Returns a number from 0 up to 1. */
  readonly random: () => number;
}

/** Failure of one try; another may succeed. */
export class TransientFault extends Error {
  override readonly name = 'TransientFault';
}

/** Failure of the transfer. The file is not the cause: another attempt of the job may succeed. */
export class TransferFailed extends Error {
  override readonly name = 'TransferFailed';
}

const STALL_MS = 60_000;
const MAX_TRIES = 20;
const DELAYS = { firstMs: 250, maxMs: 8000 };

/**
 * Retries until the transfer succeeds, with a backoff from 0.25 to 8 seconds and jitter.
 * @throws TransferFailed after 60 seconds without a transferred byte, or 20 tries; the signal's reason on abort; every
 * error of a try other than TransientFault at once.
 */
export async function retryTransfer<T>(
  deps: RetryDeps,
  signal: AbortSignal,
  attempt: (onBytes: () => void) => Promise<T>,
): Promise<T> {
  let lastBytesAt = deps.now();
  for (let tries = 1; ; tries += 1) {
    signal.throwIfAborted();
    try {
      return await attempt(() => {
        lastBytesAt = deps.now();
      });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof TransientFault)) throw error;
      const delay = backoffMs(DELAYS, tries - 1) * (0.5 + deps.random() / 2);
      const isOver = tries >= MAX_TRIES || deps.now() + delay - lastBytesAt > STALL_MS;
      if (isOver) throw new TransferFailed(`the transfer failed ${tries} times: ${error.message}`, { cause: error });
      await deps.wait(delay, signal);
    }
  }
}
