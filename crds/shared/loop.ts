import type { Log } from '#crds/shared/log.ts';

export interface Loop {
  /** Runs as soon as the running turn is over, or now. */
  wake(): void;
  /** No further turn; resolves when the running one is over. */
  stop(): Promise<void>;
}

/**
 * Does the same work again and again: when woken, and at the latest after `everyMs`. One turn at a time;
 * a turn that fails is logged and the next one comes at its time.
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
    await turn().catch((error: unknown) => log.error({ err: error, loop: name }, 'a turn failed'));
    running = null;
    if (woken) start();
    else if (!stopped) timer = setTimeout(start, everyMs);
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
