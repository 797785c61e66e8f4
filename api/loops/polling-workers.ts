import type { Log } from '#crds/process/log.ts';
import { startLoop, type Loop } from '#api/loops/loop.ts';

interface PollingWorkers<Item> {
  readonly name: string;
  /** Maximum number of items that are processed concurrently. */
  readonly concurrency: number;
  readonly pollIntervalMs: number;
  /** Claims up to `freeSlots` due items with a lease, so that no other process takes them. */
  readonly claim: (freeSlots: number) => Promise<readonly Item[]>;
  /** Processes an item. Errors are logged; the item is due again when its lease has expired. */
  readonly work: (item: Item, signal: AbortSignal) => Promise<void>;
}

/**
 * Processes due items of a queue with bounded concurrency. Polls when woken, when a slot becomes free, and every
 * `pollIntervalMs`. `stop` claims nothing more, aborts the signal and waits for running items.
 */
export function startPollingWorkers<Item>(
  { log }: { log: Log },
  { name, concurrency, pollIntervalMs, claim, work }: PollingWorkers<Item>,
): Loop {
  const stopping = new AbortController();
  const inFlight = new Set<Promise<void>>();
  const begin = (item: Item): void => {
    const running = work(item, stopping.signal)
      .catch((error: unknown) => log.error({ err: error, loop: name }, 'processing a queue item failed'))
      .then(() => {
        inFlight.delete(running);
        loop.wake();
      });
    inFlight.add(running);
  };
  const loop = startLoop(
    { log },
    {
      name,
      everyMs: pollIntervalMs,
      iterate: async () => {
        const freeSlots = concurrency - inFlight.size;
        if (freeSlots > 0) for (const item of await claim(freeSlots)) begin(item);
      },
    },
  );
  return {
    wake: () => loop.wake(),
    stop: async () => {
      stopping.abort();
      await loop.stop();
      await Promise.all(inFlight);
    },
  };
}
