import type { Log } from '#crds/shared/log.ts';

export interface Loop {
  /** Runs as soon as the running turn is over, or now. */
  wake(): void;
  /** No further turn; resolves when the running one is over. */
  stop(): Promise<void>;
}

/** At the latest so long after a turn that failed: what comes once an hour must not wait for another one. */
const RETRY_MS = 10_000;

/**
 * Does the same work again and again: when woken, and at the latest after `everyMs`. One turn at a time;
 * a turn that fails is logged, and the next one comes at its time or after 10 seconds.
 */
export function startLoop(
  { log }: { log: Pick<Log, 'error'> },
  { name, everyMs, turn }: { name: string; everyMs: number; turn: () => Promise<void> },
): Loop {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | null = null;
  let woken = false;
  let stopped = false;
  const run = async (): Promise<void> => {
    clearTimeout(timer);
    woken = false;
    let nextMs = everyMs;
    await turn().catch((error: unknown) => {
      log.error({ err: error, loop: name }, 'a turn failed');
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
