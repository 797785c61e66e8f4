import { describe, expect, it, onTestFinished } from 'vitest';
import { makeLog } from '#crds/shared/log.ts';
import type { Loop } from '#crds/shared/loop.ts';
import { startWorkPlaces } from '#crds/shared/work-places.ts';

const log = makeLog('test', 'silent');

interface Queue {
  readonly items: string[];
  readonly work: (item: string, signal: AbortSignal) => Promise<void>;
  readonly atOnce?: number;
  readonly claim?: (free: number) => Promise<readonly string[]>;
}

function start({ items, work, atOnce = 2, claim = async (free) => items.splice(0, free) }: Queue): Loop {
  const places = startWorkPlaces({ log }, { name: 'test', atOnce, everyMs: 60_000, claim, work });
  onTestFinished(() => places.stop());
  return places;
}

describe('startWorkPlaces', () => {
  it('works on everything that is due, never on more at once than there are places', async () => {
    let now = 0;
    let most = 0;
    const done: string[] = [];
    const all = Promise.withResolvers<void>();
    start({
      items: ['a', 'b', 'c', 'd', 'e'],
      work: async (item) => {
        most = Math.max(most, (now += 1));
        await Promise.resolve();
        now -= 1;
        if (done.push(item) === 5) all.resolve();
      },
    });
    await all.promise;
    expect(done.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(most).toBe(2);
  });

  it('looks again when it is woken', async () => {
    const looked = Promise.withResolvers<void>();
    const worked = Promise.withResolvers<string>();
    const items: string[] = [];
    const claim = async (free: number): Promise<string[]> => {
      looked.resolve();
      return items.splice(0, free);
    };
    const places = start({ items, claim, work: async (item) => worked.resolve(item) });
    await looked.promise;
    items.push('late');
    places.wake();
    expect(await worked.promise).toBe('late');
  });

  it('an item that does not end holds one place only', async () => {
    const blocker = Promise.withResolvers<void>();
    const last = Promise.withResolvers<void>();
    start({
      items: ['slow', 'b', 'c'],
      work: (item) => (item === 'slow' ? blocker.promise : Promise.resolve(item === 'c' ? last.resolve() : undefined)),
    });
    await last.promise;
    blocker.resolve();
  });

  it('goes on after work that failed', async () => {
    const done = Promise.withResolvers<void>();
    start({
      items: ['bad', 'good'],
      atOnce: 1,
      work: async (item) => {
        if (item === 'bad') throw new Error('bug');
        done.resolve();
      },
    });
    await done.promise;
  });

  it('stopping aborts what is under way, waits for it, and claims nothing more', async () => {
    const items = ['a'];
    const began = Promise.withResolvers<void>();
    let ended = false;
    const places = start({
      items,
      work: async (_item, signal) => {
        began.resolve();
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        ended = true;
      },
    });
    await began.promise;
    items.push('b');
    await places.stop();
    places.wake();
    expect(ended).toBe(true);
    expect(items).toEqual(['b']);
  });
});
