/**
 * Open requests of standbys for their run, by the pod's uid. A run stays available to its pod until it is forgotten,
 * so that a pod whose response was lost receives it with its next request. A pod that says that it has finished this run
 * asks for the next one.
 */
import type { AttemptId, RunSpec } from '#crds/contract/run-spec.ts';

/** Time for which a request stays open without a run, in milliseconds. Then the standby sends the next one. */
export const POLL_MS = 25_000;

export class StandbyPolls {
  readonly #open = new Map<string, (spec: RunSpec | null) => void>();
  readonly #sent = new Map<string, RunSpec>();

  isOpen(uid: string): boolean {
    return this.#open.has(uid);
  }

  /** Resolves with the run of the pod; with null when it has none in time, the signal aborts or the pod asks again. */
  wait(uid: string, signal: AbortSignal, finished: AttemptId | null = null): Promise<RunSpec | null> {
    const spec = this.#sent.get(uid);
    if (spec !== undefined && !isSame(spec, finished)) return Promise.resolve(spec);
    this.#open.get(uid)?.(null);
    return new Promise((resolve) => {
      const timer = setTimeout(() => end(null), POLL_MS);
      const abort = (): void => end(null);
      const end = (result: RunSpec | null): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        if (this.#open.get(uid) === end) this.#open.delete(uid);
        resolve(result);
      };
      if (signal.aborted) return end(null);
      signal.addEventListener('abort', abort, { once: true });
      this.#open.set(uid, end);
    });
  }

  send(uid: string, spec: RunSpec): void {
    this.#sent.set(uid, spec);
    this.#open.get(uid)?.(spec);
  }

  hasRun(uid: string): boolean {
    return this.#sent.has(uid);
  }

  /** Forgets a pod that has ended. */
  forget(uid: string): void {
    this.#sent.delete(uid);
    this.#open.get(uid)?.(null);
  }

  /** Ends every request. */
  close(): void {
    for (const end of this.#open.values()) end(null);
  }
}

function isSame({ jobId, attempt }: RunSpec, other: AttemptId | null): boolean {
  return other !== null && jobId === other.jobId && attempt === other.attempt;
}
