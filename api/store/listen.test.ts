import { describe, expect, it } from 'vitest';
import { listen, notify } from '#api/store/listen.ts';
import { makeLog } from '#crds/shared/log.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const log = makeLog('test', 'silent');

/** Hints one after the other: each call waits for the next one. */
function listenTo(channel: string): { next: () => Promise<string>; stop: () => Promise<void> } {
  const controller = new AbortController();
  const waiting: ((hint: string) => void)[] = [];
  const come: string[] = [];
  const onHint = (hint: string): void => {
    const taker = waiting.shift();
    if (taker === undefined) come.push(hint);
    else taker(hint);
  };
  const ended = listen({ url: database.url, log }, { channel, onHint, signal: controller.signal });
  return {
    next: () => {
      const first = come.shift();
      return first === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(first);
    },
    stop: () => {
      controller.abort();
      return ended;
    },
  };
}

describe('listen', () => {
  it('hints once it is connected, then gives every payload of its channel', async () => {
    const hints = listenTo('Odd "name"');
    expect(await hints.next()).toBe('');
    await notify(database, 'other', 'not for us');
    await notify(database, 'Odd "name"', 'job_1');
    await database.transaction((tx) => notify(tx, 'Odd "name"'));
    expect([await hints.next(), await hints.next()]).toStrictEqual(['job_1', '']);
    await hints.stop();
  });

  it('connects again when its connection is lost, and hints at what it may have missed', async () => {
    const hints = listenTo('lossy');
    await hints.next();
    await database.query(`select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen "lossy"'`);
    expect(await hints.next()).toBe('');
    await notify(database, 'lossy', 'after');
    expect(await hints.next()).toBe('after');
    await hints.stop();
  });

  it('sends nothing from a transaction that is rolled back', async () => {
    const hints = listenTo('rolled');
    await hints.next();
    const failing = database.transaction(async (tx) => {
      await notify(tx, 'rolled', 'never');
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await notify(database, 'rolled', 'committed');
    expect(await hints.next()).toBe('committed');
    await hints.stop();
  });

  it('keeps trying while there is no server, and still ends when told', async () => {
    const controller = new AbortController();
    const ended = listen(
      { url: 'postgresql://nobody@127.0.0.1:1/none', log },
      { channel: 'x', onHint: () => undefined, signal: controller.signal },
    );
    controller.abort();
    await expect(ended).resolves.toBeUndefined();
  });

  it('leaves no connection behind', async () => {
    const hints = listenTo('gone');
    await hints.next();
    await hints.stop();
    await expect
      .poll(async () => (await database.query(`select 1 from pg_stat_activity where query = 'listen "gone"'`)).rowCount)
      .toBe(0);
  });
});
