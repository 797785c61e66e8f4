import { SafeFetchError } from '#api/outbound/safe-fetch-error.ts';

interface DeadlineLimits {
  readonly totalMs: number;
  readonly idleMs: number;
  readonly signal?: AbortSignal;
}

/** Deadline of one request, and its timeout without any byte. */
export interface Deadline {
  /** Aborts at the deadline, after the timeout, or when the caller aborts. */
  readonly signal: AbortSignal;
  /** Restarts the timeout after a byte was sent or received. */
  touch(): void;
  /** Stops deadline and timeout. */
  clear(): void;
  /** Returns why the signal aborted; null while it has not. */
  reason(): SafeFetchError | null;
  /** Starts the work and waits for it. Throws when the signal aborts first, or before starting when it has aborted. */
  race<T>(start: () => Promise<T>): Promise<T>;
}

/** Starts the deadline and the timeout. */
export function makeDeadline({ totalMs, idleMs, signal: callerSignal }: DeadlineLimits): Deadline {
  const abort = new AbortController();
  const end = (reason: SafeFetchError): void => abort.abort(reason);
  const onCallerAbort = (): void => end(new SafeFetchError('aborted', 'the request was aborted'));
  const total = setTimeout(() => end(tooLate('it took longer than', totalMs)), totalMs);
  const idle = setTimeout(() => end(tooLate('no data was transferred for', idleMs)), idleMs);
  if (callerSignal?.aborted === true) onCallerAbort();
  callerSignal?.addEventListener('abort', onCallerAbort, { once: true });
  return {
    signal: abort.signal,
    touch: () => void idle.refresh(),
    clear: () => {
      clearTimeout(total);
      clearTimeout(idle);
      callerSignal?.removeEventListener('abort', onCallerAbort);
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
