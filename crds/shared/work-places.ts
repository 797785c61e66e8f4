/**
 * Works on items of a queue in PostgreSQL, a bounded number at once. It looks for due items every
 * `pollMs`, when it is woken, and whenever a place becomes free.
 *
 *   idle ──wake or poll──→ claiming (as many as places are free) ──→ idle; each item is worked on
 *   stop: nothing is claimed any more, the signal aborts, and what is under way ends
 */
import type { Log } from '#crds/shared/log.ts';

interface Work<Item> {
  readonly atOnce: number;
  readonly pollMs: number;
  /** Takes at most so many due items, so that nobody else works on them for a while. */
  readonly claim: (freePlaces: number) => Promise<readonly Item[]>;
  /** What it throws is logged; the item is due again when its claim runs out. */
  readonly work: (item: Item, signal: AbortSignal) => Promise<void>;
}

export interface WorkPlaces {
  /** There may be something to do. */
  wake(): void;
  /** Waits until what is due now has been worked on. */
  settle(): Promise<void>;
  stop(): Promise<void>;
}

export function startWorkPlaces<Item>({ log }: { log: Log }, { atOnce, pollMs, claim, work }: Work<Item>): WorkPlaces {
  const stopping = new AbortController();
  const underWay = new Set<Promise<void>>();
  let claiming: Promise<void> | null = null;
  let wokenMeanwhile = false;

  const begin = (item: Item): void => {
    const running = work(item, stopping.signal)
      .catch((error: unknown) => log.error({ err: error }, 'a piece of work failed'))
      .then(() => {
        underWay.delete(running);
        wake();
      });
    underWay.add(running);
  };
  const claimOnce = async (): Promise<void> => {
    const free = atOnce - underWay.size;
    if (free > 0 && !stopping.signal.aborted) for (const item of await claim(free)) begin(item);
  };
  const wake = (): void => {
    wokenMeanwhile = claiming !== null;
    if (claiming !== null || stopping.signal.aborted) return;
    claiming = claimOnce()
      .catch((error: unknown) => log.warn({ err: error }, 'looking for work failed'))
      .then(() => {
        claiming = null;
        if (wokenMeanwhile) wake();
      });
  };
  const settle = async (): Promise<void> => {
    while (claiming !== null || underWay.size > 0) await Promise.all([claiming, ...underWay]);
  };

  const timer = setInterval(wake, pollMs);
  wake();
  return {
    wake,
    settle,
    stop: async () => {
      clearInterval(timer);
      stopping.abort();
      await settle();
    },
  };
}
