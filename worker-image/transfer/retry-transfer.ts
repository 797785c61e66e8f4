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

/** Refusal of a signed URL, which may have expired. The next try uses a new one. */
export class RefusedUrl extends TransientFault {}

/** Failure of the transfer. The file is not the cause: another attempt of the job may succeed. */
export class TransferFailed extends Error {
  override readonly name = 'TransferFailed';
}

/** Time without a transferred byte after which a transfer fails: as long as silent attempts are trusted. */
const STALL_MS = 600_000;
/** Maximum number of tries that transferred bytes and failed. */
const MAX_INTERRUPTIONS = 20;
const MAX_REFUSALS = 3;
const DELAYS = { firstMs: 250, maxMs: 8000 };

/**
 * Retries until the transfer succeeds, with a backoff from 0.25 to 8 seconds and jitter.
 * @throws TransferFailed after 10 minutes without a transferred byte, 20 interrupted tries or 3 refused URLs; the
 * signal's reason on abort; every error of a try other than TransientFault at once.
 */
export async function retryTransfer<T>(
  deps: RetryDeps,
  signal: AbortSignal,
  attempt: (onBytes: () => void) => Promise<T>,
): Promise<T> {
  const failed = { tries: 0, interruptions: 0, refusals: 0, lastBytesAt: deps.now() };
  for (;;) {
    signal.throwIfAborted();
    let hasBytes = false;
    try {
      return await attempt(() => {
        hasBytes = true;
        failed.lastBytesAt = deps.now();
      });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof TransientFault)) throw error;
      failed.tries += 1;
      failed.interruptions += hasBytes ? 1 : 0;
      failed.refusals += error instanceof RefusedUrl ? 1 : 0;
      const delay = backoffMs(DELAYS, failed.tries - 1) * (0.5 + deps.random() / 2);
      if (isOver(failed, deps.now() + delay))
        throw new TransferFailed(`the transfer failed ${failed.tries} times: ${error.message}`, { cause: error });
      await deps.wait(delay, signal);
    }
  }
}

interface FailedTries {
  readonly interruptions: number;
  readonly refusals: number;
  readonly lastBytesAt: number;
}

function isOver({ interruptions, refusals, lastBytesAt }: FailedTries, nextAt: number): boolean {
  return interruptions >= MAX_INTERRUPTIONS || refusals >= MAX_REFUSALS || nextAt - lastBytesAt > STALL_MS;
}
