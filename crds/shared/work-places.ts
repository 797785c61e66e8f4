import type { Log } from '#crds/shared/log.ts';
import { startLoop, type Loop } from '#crds/shared/loop.ts';

interface Work<Item> {
  readonly name: string;
  readonly atOnce: number;
  readonly everyMs: number;
  /** Takes at most so many due items, so that nobody else works on them for a while. */
  readonly claim: (freePlaces: number) => Promise<readonly Item[]>;
  /** What it throws is logged; the item is due again when its claim runs out. */
  readonly work: (item: Item, signal: AbortSignal) => Promise<void>;
}

/**
 * Works on due items of a queue, `atOnce` at most. It looks for more when woken, whenever a place becomes
 * free, and at the latest after `everyMs`. Stopping claims nothing more, aborts the signal and waits for
 * what is under way.
 */
export function startWorkPlaces<Item>({ log }: { log: Log }, { name, atOnce, everyMs, claim, work }: Work<Item>): Loop {
  const stopping = new AbortController();
  const underWay = new Set<Promise<void>>();
  const begin = (item: Item): void => {
    const running = work(item, stopping.signal)
      .catch((error: unknown) => log.error({ err: error, loop: name }, 'a piece of work failed'))
      .then(() => {
        underWay.delete(running);
        loop.wake();
      });
    underWay.add(running);
  };
  const loop = startLoop(
    { log },
    {
      name,
      everyMs,
      turn: async () => {
        const free = atOnce - underWay.size;
        if (free > 0) for (const item of await claim(free)) begin(item);
      },
    },
  );
  return {
    wake: () => loop.wake(),
    stop: async () => {
      stopping.abort();
      await loop.stop();
      await Promise.all(underWay);
    },
  };
}
