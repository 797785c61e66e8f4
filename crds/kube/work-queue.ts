/**
 * Queue of unique keys. A key that is added while it waits is handled once. A key that is added while it is running is
 * handled once more afterwards. Keys of a sweep wait behind all others. Independent of any domain.
 *
 *   (timer) ─→ waiting ─→ running ─→ done, or timer again
 *                 ↑          │ error: timer, with a doubled delay each time
 *                 └── added again meanwhile
 */
import type { QueueMetrics } from '#crds/kube/queue-metrics.ts';

export interface WorkQueue {
  /** Adds a key. `sweep`: keys without it are handled first. */
  add(key: string, of?: 'sweep'): void;
  /** Adds the key after a delay in milliseconds. The earliest of several delays counts. */
  addAfter(key: string, delayMs: number): void;
  /** Starts no further key; resolves when the running ones have ended. */
  stop(): Promise<void>;
}

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

/** Creates a queue. */
export function makeWorkQueue(deps: WorkQueueDeps, options: WorkQueueOptions): WorkQueue {
  const { metrics } = deps;
  /** Times of addition by key, in order. */
  const waiting = new Map<string, number>();
  const ofSweep = new Map<string, number>();
  const running = new Map<string, Promise<void>>();
  const timers = new Map<string, { readonly at: number; readonly timer: NodeJS.Timeout }>();
  const failures = new Map<string, number>();
  let stopped = false;

  const next = (): readonly [string, number] | undefined => {
    for (const keys of [waiting, ofSweep]) for (const entry of keys) if (!running.has(entry[0])) return entry;
    return undefined;
  };
  const pump = (): void => {
    while (!stopped && running.size < options.workers) {
      const [key, since] = next() ?? [];
      if (key === undefined || since === undefined) return;
      waiting.delete(key);
      ofSweep.delete(key);
      dropTimer(key);
      metrics.waited((performance.now() - since) / 1000);
      running.set(key, handle(key));
    }
  };
  const handle = async (key: string): Promise<void> => {
    const began = performance.now();
    let againMs: number | null;
    try {
      againMs = await deps.handle(key);
      failures.delete(key);
    } catch (error) {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      againMs = Math.min(options.lastRetryMs, options.firstRetryMs * 2 ** count);
      metrics.retried();
      deps.onError(error, key, againMs);
    }
    metrics.worked((performance.now() - began) / 1000);
    running.delete(key);
    if (againMs !== null) addAfter(key, againMs);
    pump();
  };
  const dropTimer = (key: string): void => {
    clearTimeout(timers.get(key)?.timer);
    timers.delete(key);
  };
  const add = (key: string, of?: 'sweep'): void => {
    if (stopped || waiting.has(key) || (of === 'sweep' && ofSweep.has(key))) return;
    const since = ofSweep.get(key) ?? performance.now();
    ofSweep.delete(key);
    (of === 'sweep' ? ofSweep : waiting).set(key, since);
    metrics.added();
    pump();
  };
  const addAfter = (key: string, delayMs: number): void => {
    const at = performance.now() + delayMs;
    if (stopped || (timers.get(key)?.at ?? Infinity) <= at) return;
    dropTimer(key);
    timers.set(key, { at, timer: setTimeout(() => add(key), Math.min(Math.max(0, delayMs), MAX_TIMER_MS)) });
  };
  metrics.observeDepth(() => waiting.size + ofSweep.size);

  return {
    add,
    addAfter,
    async stop() {
      stopped = true;
      waiting.clear();
      ofSweep.clear();
      for (const key of timers.keys()) dropTimer(key);
      await Promise.all(running.values());
    },
  };
}
