import { SafeFetchError } from '#crds/shared/safe-fetch-error.ts';

interface Limits {
  readonly totalMs: number;
  readonly idleMs: number;
  readonly signal?: AbortSignal;
}

/** Two clocks over one request: its whole time, and the time in which no byte moves. */
export interface Deadline {
  /** Aborts when a clock runs out or the caller gives up. */
  readonly signal: AbortSignal;
  /** A byte moved. */
  touch(): void;
  /** Stops the clocks. */
  clear(): void;
  /** Why the signal aborted; null while it has not. */
  reason(): SafeFetchError | null;
  /** Starts the work and waits for it, or throws when the signal aborts first; aborted already, nothing is started. */
  race<T>(start: () => Promise<T>): Promise<T>;
}

export function makeDeadline({ totalMs, idleMs, signal: givenUp }: Limits): Deadline {
  const abort = new AbortController();
  const end = (reason: SafeFetchError): void => abort.abort(reason);
  const giveUp = (): void => end(new SafeFetchError('aborted', 'it was given up'));
  const total = setTimeout(() => end(tooLate('it took longer than', totalMs)), totalMs);
  const idle = setTimeout(() => end(tooLate('nothing moved for', idleMs)), idleMs);
  if (givenUp?.aborted === true) giveUp();
  givenUp?.addEventListener('abort', giveUp, { once: true });
  return {
    signal: abort.signal,
    touch: () => void idle.refresh(),
    clear: () => {
      clearTimeout(total);
      clearTimeout(idle);
      givenUp?.removeEventListener('abort', giveUp);
    },
    reason: () => (abort.signal.aborted ? (abort.signal.reason as SafeFetchError) : null),
    race: (start) => race(start, abort.signal),
  };
}

function tooLate(what: string, ms: number): SafeFetchError {
  return new SafeFetchError('timeout', `${what} ${ms / 1000} seconds`);
}

async function race<T>(start: () => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason as SafeFetchError);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([start(), aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
