/**
 * Keys in work, one at a time each. A key that is added while it waits is handled once; one that is
 * added while it is being handled is handled once more afterwards. Free of any domain.
 *
 *   (timer) ─→ waiting ─→ in work ─→ done, or timer again
 *                 ↑          │ error: timer, twice as long each time
 *                 └── added again meanwhile
 */

export interface WorkQueue {
  add(key: string): void;
  /** Adds the key later, in milliseconds. Of several times the earliest holds. */
  addAfter(key: string, delayMs: number): void;
  /** Keys that wait to be handled. */
  depth(): number;
  /** Takes no further key and resolves when those in work are done. */
  stop(): Promise<void>;
}

interface WorkQueueDeps {
  /** Handles a key; gives the milliseconds after which to handle it again, or null. */
  readonly handle: (key: string) => Promise<number | null>;
  /** A handler threw; the key comes again after `retryMs`. */
  readonly onError: (error: unknown, key: string, retryMs: number) => void;
}

interface WorkQueueOptions {
  /** Keys handled at once. */
  readonly workers: number;
  /** Delay after the first error of a key; doubles with each further one. */
  readonly firstRetryMs: number;
  readonly lastRetryMs: number;
}

/** As setTimeout takes it: above, it would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function makeWorkQueue(deps: WorkQueueDeps, options: WorkQueueOptions): WorkQueue {
  const waiting = new Set<string>();
  const inWork = new Map<string, Promise<void>>();
  const timers = new Map<string, { readonly at: number; readonly timer: NodeJS.Timeout }>();
  const failures = new Map<string, number>();
  let stopped = false;

  const next = (): string | undefined => {
    for (const key of waiting) if (!inWork.has(key)) return key;
    return undefined;
  };
  const pump = (): void => {
    while (!stopped && inWork.size < options.workers) {
      const key = next();
      if (key === undefined) return;
      waiting.delete(key);
      dropTimer(key);
      inWork.set(key, handle(key));
    }
  };
  const handle = async (key: string): Promise<void> => {
    let againMs: number | null;
    try {
      againMs = await deps.handle(key);
      failures.delete(key);
    } catch (error) {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      againMs = Math.min(options.lastRetryMs, options.firstRetryMs * 2 ** count);
      deps.onError(error, key, againMs);
    }
    inWork.delete(key);
    if (againMs !== null) addAfter(key, againMs);
    pump();
  };
  const dropTimer = (key: string): void => {
    clearTimeout(timers.get(key)?.timer);
    timers.delete(key);
  };
  const add = (key: string): void => {
    if (stopped) return;
    waiting.add(key);
    pump();
  };
  const addAfter = (key: string, delayMs: number): void => {
    const at = performance.now() + delayMs;
    if (stopped || (timers.get(key)?.at ?? Infinity) <= at) return;
    dropTimer(key);
    timers.set(key, { at, timer: setTimeout(() => add(key), Math.min(Math.max(0, delayMs), LONGEST_TIMER_MS)) });
  };

  return {
    add,
    addAfter,
    depth: () => waiting.size,
    async stop() {
      stopped = true;
      waiting.clear();
      for (const key of timers.keys()) dropTimer(key);
      await Promise.all(inWork.values());
    },
  };
}
