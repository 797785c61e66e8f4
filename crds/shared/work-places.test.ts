import { describe, expect, it, onTestFinished } from 'vitest';
import { makeLog } from '#crds/shared/log.ts';
import { startWorkPlaces, type WorkPlaces } from '#crds/shared/work-places.ts';

const log = makeLog('test', 'silent');

function start(queue: string[], work: (item: string, signal: AbortSignal) => Promise<void>, atOnce = 2): WorkPlaces {
  const claim = async (free: number): Promise<string[]> => queue.splice(0, free);
  const places = startWorkPlaces({ log }, { atOnce, pollMs: 60_000, claim, work });
  onTestFinished(() => places.stop());
  return places;
}

describe('startWorkPlaces', () => {
  it('works on everything that is due, never on more at once than there are places', async () => {
    let now = 0;
    let most = 0;
    const done: string[] = [];
    const places = start(['a', 'b', 'c', 'd', 'e'], async (item) => {
      most = Math.max(most, (now += 1));
      await Promise.resolve();
      now -= 1;
      done.push(item);
    });
    await places.settle();
    expect(done.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(most).toBe(2);
  });

  it('looks again when it is woken', async () => {
    const queue: string[] = [];
    const done: string[] = [];
    const places = start(queue, async (item) => void done.push(item));
    await places.settle();
    queue.push('late');
    places.wake();
    await places.settle();
    expect(done).toEqual(['late']);
  });

  it('an item that does not end holds one place only', async () => {
    const blocker = Promise.withResolvers<void>();
    const last = Promise.withResolvers<void>();
    start(['slow', 'b', 'c'], (item) => (item === 'slow' ? blocker.promise : Promise.resolve(item === 'c' ? last.resolve() : undefined)));
    await last.promise;
    blocker.resolve();
  });

  it('goes on after work and after a claim that failed', async () => {
    const queue = ['bad', 'good'];
    const done: string[] = [];
    let claims = 0;
    const places = startWorkPlaces<string>({ log }, {
      atOnce: 1,
      pollMs: 60_000,
      claim: async (free) => {
        if ((claims += 1) === 1) throw new Error('no database');
        return queue.splice(0, free);
      },
      work: async (item) => {
        if (item === 'bad') throw new Error('bug');
        done.push(item);
      },
    });
    onTestFinished(() => places.stop());
    await places.settle();
    places.wake();
    await places.settle();
    expect(done).toEqual(['good']);
  });

  it('stopping aborts what is under way, waits for it, and claims nothing more', async () => {
    const queue = ['a'];
    const began = Promise.withResolvers<void>();
    let ended = false;
    const places = start(queue, async (_item, signal) => {
      began.resolve();
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      ended = true;
    });
    await began.promise;
    queue.push('b');
    await places.stop();
    places.wake();
    await places.settle();
    expect(ended).toBe(true);
    expect(queue).toEqual(['b']);
  });
});
