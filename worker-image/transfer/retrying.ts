/** Repeats a transfer through faults of the network and of servers that are overloaded or restarting. */

/** What a transfer needs of the outside, so that a test can move time. */
export interface RetryDeps {
  /** Milliseconds from any start; never falls. */
  readonly now: () => number;
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** 0 up to 1. */
  readonly random: () => number;
}

/** This try failed, another may succeed. */
export class TransientFault extends Error {
  override readonly name = 'TransientFault';
}

/** The transfer was given up. Not the file's fault: another attempt may succeed. */
export class TransferFailed extends Error {
  override readonly name = 'TransferFailed';
}

const GIVE_UP_MS = 60_000;
const MAX_TRIES = 20;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 8000;

/**
 * Tries until the transfer succeeds. Waits grow from 0.25 to 8 seconds, each shortened at random.
 * @throws TransferFailed after 60 seconds in which no byte moved, or 20 tries; the signal's reason on
 * abort; every other error of a try at once.
 */
export async function retrying<T>(
  deps: RetryDeps,
  signal: AbortSignal,
  attempt: (moved: () => void) => Promise<T>,
): Promise<T> {
  let movedAt = deps.now();
  for (let tries = 1; ; tries += 1) {
    signal.throwIfAborted();
    try {
      return await attempt(() => {
        movedAt = deps.now();
      });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof TransientFault)) throw error;
      const pause = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1)) * (0.5 + deps.random() / 2);
      const isOver = tries >= MAX_TRIES || deps.now() + pause - movedAt > GIVE_UP_MS;
      if (isOver) throw new TransferFailed(`given up after ${tries} tries: ${error.message}`, { cause: error });
      await deps.wait(pause, signal);
    }
  }
}
