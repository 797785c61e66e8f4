import type { MediaJobEvent } from '#crds/media-jobs/media-job-client.ts';

export interface EventDelivery {
  readonly onEvent: (event: MediaJobEvent) => void;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  /** Called with the error of `onEvent`; the watch continues. */
  readonly onError: (error: unknown) => void;
}

/** Calls the watcher with an event after the current operation, unless its watch has ended by then. */
export function deliverEvent(event: MediaJobEvent, { onEvent, signal, onError }: EventDelivery): void {
  queueMicrotask(() => {
    if (signal.aborted) return;
    try {
      onEvent(event);
    } catch (error) {
      onError(error);
    }
  });
}
