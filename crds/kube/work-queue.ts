/**
 * Queue of unique keys. A key that is added while it waits is handled once. A key that is added while it is running is
 * handled once more afterwards. Keys of a sweep wait behind all others. Independent of any domain.
 *
 *   (timer) ─→ waiting ─→ running ─→ done, or timer again
 *                 ↑          │ error: timer, with a doubled delay each time
 *                 └── added again meanwhile
 */
import type { QueueMetrics } from '#crds/kube/queue-metrics.ts';
import { backoffMs } from '#crds/process/backoff.ts';

interface WorkQueueDeps {
  /** Handles a key. Returns the delay in milliseconds after which to handle it again, or null. */
  readonly handle: (key: string) => Promise<number | null>;
  /** Called when a handler throws; the key is handled again after `retryMs`. */
  readonly onError: (error: unknown, key: string, retryMs: number) => void;
  readonly metrics: QueueMetrics;
}

interface WorkQueueOptions {
  /** Maximum number of keys handled in parallel. */
  readonly workers: number;
  /** Delay after the first error of a key, in milliseconds; doubles with each further one. */
  readonly firstRetryMs: number;
  readonly lastRetryMs: number;
}

/** Maximum delay of setTimeout, in milliseconds: longer ones fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Queue of unique keys with bounded concurrency. */
export class WorkQueue {
  readonly #deps: WorkQueueDeps;
  readonly #options: WorkQueueOptions;
  /** Times of addition by key, in order. */
  readonly #waiting = new Map<string, number>();
  readonly #ofSweep = new Map<string, number>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #timers = new Map<string, { readonly at: number; readonly timer: NodeJS.Timeout }>();
  readonly #failures = new Map<string, number>();
  #isStopped = false;

  constructor(deps: WorkQueueDeps, options: WorkQueueOptions) {
    this.#deps = deps;
    this.#options = options;
    deps.metrics.observeDepth(() => this.#waiting.size + this.#ofSweep.size);
  }

  /** Adds a key. `sweep`: keys without it are handled first. */
  add(key: string, of?: 'sweep'): void {
    if (this.#isStopped || this.#waiting.has(key) || (of === 'sweep' && this.#ofSweep.has(key))) return;
    const since = this.#ofSweep.get(key) ?? performance.now();
    this.#ofSweep.delete(key);
    (of === 'sweep' ? this.#ofSweep : this.#waiting).set(key, since);
    this.#deps.metrics.added();
    this.#startWaiting();
  }

  /** Adds the key after a delay in milliseconds. The earliest of several delays counts. */
  addAfter(key: string, delayMs: number): void {
    const at = performance.now() + delayMs;
    if (this.#isStopped || (this.#timers.get(key)?.at ?? Infinity) <= at) return;
    this.#dropTimer(key);
    const timer = setTimeout(() => this.add(key), Math.min(Math.max(0, delayMs), MAX_TIMER_MS));
    this.#timers.set(key, { at, timer });
  }

  /** Starts no further key; resolves when the running ones have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#waiting.clear();
    this.#ofSweep.clear();
    for (const key of this.#timers.keys()) this.#dropTimer(key);
    await Promise.all(this.#running.values());
  }

  #startWaiting(): void {
    while (!this.#isStopped && this.#running.size < this.#options.workers) {
      const [key, since] = this.#next() ?? [];
      if (key === undefined || since === undefined) return;
      this.#waiting.delete(key);
      this.#ofSweep.delete(key);
      this.#dropTimer(key);
      this.#deps.metrics.waited((performance.now() - since) / 1000);
      this.#running.set(key, this.#handle(key));
    }
  }

  #next(): readonly [string, number] | undefined {
    for (const keys of [this.#waiting, this.#ofSweep])
      for (const entry of keys) if (!this.#running.has(entry[0])) return entry;
    return undefined;
  }

  async #handle(key: string): Promise<void> {
    const { metrics } = this.#deps;
    const began = performance.now();
    let againMs: number | null;
    try {
      againMs = await this.#deps.handle(key);
      this.#failures.delete(key);
    } catch (error) {
      againMs = this.#delayAfterFailure(key);
      metrics.retried();
      this.#deps.onError(error, key, againMs);
    }
    metrics.worked((performance.now() - began) / 1000);
    this.#running.delete(key);
    if (againMs !== null) this.addAfter(key, againMs);
    this.#startWaiting();
  }

  #delayAfterFailure(key: string): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    return backoffMs({ firstMs: this.#options.firstRetryMs, maxMs: this.#options.lastRetryMs }, failures);
  }

  #dropTimer(key: string): void {
    clearTimeout(this.#timers.get(key)?.timer);
    this.#timers.delete(key);
  }
}
