import { describe, expect, it, onTestFinished } from 'vitest';
import { makeLog } from '#crds/process/log.ts';
import type { Loop } from '#api/loops/loop.ts';
import { startPollingWorkers } from '#api/loops/polling-workers.ts';

const log = makeLog('test', 'silent');

interface Queue {
  readonly items: string[];
  readonly work: (item: string, signal: AbortSignal) => Promise<void>;
  readonly concurrency?: number;
  readonly claim?: (free: number) => Promise<readonly string[]>;
}

function start({ items, work, concurrency = 2, claim = async (free) => items.splice(0, free) }: Queue): Loop {
  const workers = startPollingWorkers({ log }, { name: 'test', concurrency, pollIntervalMs: 60_000, claim, work });
  onTestFinished(() => workers.stop());
  return workers;
}

describe('startPollingWorkers', () => {
  it('processes all due items, never more concurrently than allowed', async () => {
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

  it('claims again when it is woken', async () => {
    const polled = Promise.withResolvers<void>();
    const processed = Promise.withResolvers<string>();
    const items: string[] = [];
    const claim = async (free: number): Promise<string[]> => {
      polled.resolve();
      return items.splice(0, free);
    };
    const workers = start({ items, claim, work: async (item) => processed.resolve(item) });
    await polled.promise;
    items.push('late');
    workers.wake();
    expect(await processed.promise).toBe('late');
  });

  it('processes other items while one does not end', async () => {
    const blocker = Promise.withResolvers<void>();
    const last = Promise.withResolvers<void>();
    start({
      items: ['slow', 'b', 'c'],
      work: (item) => (item === 'slow' ? blocker.promise : Promise.resolve(item === 'c' ? last.resolve() : undefined)),
    });
    await last.promise;
    blocker.resolve();
  });

  it('processes the next item after one that failed', async () => {
    const done = Promise.withResolvers<void>();
    start({
      items: ['bad', 'good'],
      concurrency: 1,
      work: async (item) => {
        if (item === 'bad') throw new Error('bug');
        done.resolve();
      },
    });
    await done.promise;
  });

  it('stops by aborting running items and waiting for them, and claims nothing more', async () => {
    const items = ['a'];
    const began = Promise.withResolvers<void>();
    let ended = false;
    const workers = start({
      items,
      work: async (_item, signal) => {
        began.resolve();
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        ended = true;
      },
    });
    await began.promise;
    items.push('b');
    await workers.stop();
    workers.wake();
    expect(ended).toBe(true);
    expect(items).toEqual(['b']);
  });
});
