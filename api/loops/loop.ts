import type { Log } from '#crds/process/log.ts';

export interface Loop {
  /** Starts an iteration now, or after the running one. */
  wake(): void;
  /** Prevents further iterations; resolves when the running one has ended. */
  stop(): Promise<void>;
}

/** Maximum delay after a failed iteration, in milliseconds, so that an hourly loop does not wait another hour. */
const RETRY_MS = 10_000;

/**
 * Repeats `iterate`: when woken, and at the latest after `everyMs`. Iterations never overlap. A failed iteration is
 * logged; the next one begins at its interval or after 10 seconds, whichever is first.
 */
export function startLoop(
  { log }: { log: Pick<Log, 'error'> },
  { name, everyMs, iterate }: { name: string; everyMs: number; iterate: () => Promise<void> },
): Loop {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | null = null;
  let woken = false;
  let stopped = false;
  const run = async (): Promise<void> => {
    clearTimeout(timer);
    woken = false;
    let nextMs = everyMs;
    await iterate().catch((error: unknown) => {
      log.error({ err: error, loop: name }, 'iteration failed');
      nextMs = Math.min(everyMs, RETRY_MS);
    });
    running = null;
    if (woken) start();
    else if (!stopped) timer = setTimeout(start, nextMs);
  };
  const start = (): void => {
    if (!stopped && running === null) running = run();
  };
  start();
  return {
    wake: () => {
      woken = true;
      start();
    },
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
