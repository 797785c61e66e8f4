/** Callbacks of one event, each until its signal aborts. */
export class Watchers<Event> {
  readonly #callbacks = new Set<(event: Event) => void>();

  /** Adds a callback; does nothing when the signal has aborted. */
  add(onEvent: (event: Event) => void, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#callbacks.add(onEvent);
    signal.addEventListener('abort', () => this.#callbacks.delete(onEvent), { once: true });
  }

  /** Calls every callback, in the order in which they were added. @throws the error of a callback. */
  notify(event: Event): void {
    for (const onEvent of this.#callbacks) onEvent(event);
  }
}
