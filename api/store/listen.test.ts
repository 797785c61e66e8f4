import { describe, expect, it } from 'vitest';
import { listen, notify } from '#api/store/listen.ts';
import { makeLog } from '#crds/process/log.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const log = makeLog('test', 'silent');

/** Listens to a channel. `next` waits for the next hint. */
function listenTo(channel: string): { next: () => Promise<string>; stop: () => Promise<void> } {
  const controller = new AbortController();
  const waiting: ((hint: string) => void)[] = [];
  const received: string[] = [];
  const onNotification = (hint: string): void => {
    const resolveNext = waiting.shift();
    if (resolveNext === undefined) received.push(hint);
    else resolveNext(hint);
  };
  const ended = listen({ url: database.url, log }, { channel, onNotification, signal: controller.signal });
  return {
    next: () => {
      const first = received.shift();
      return first === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(first);
    },
    stop: () => {
      controller.abort();
      return ended;
    },
  };
}

describe('listen', () => {
  it('hints when it is connected, then passes on every payload of its channel', async () => {
    const hints = listenTo('Odd "name"');
    expect(await hints.next()).toBe('');
    await notify(database, 'other', 'not for us');
    await notify(database, 'Odd "name"', 'job_1');
    await database.transaction((tx) => notify(tx, 'Odd "name"'));
    expect([await hints.next(), await hints.next()]).toStrictEqual(['job_1', '']);
    await hints.stop();
  });

  it('reconnects when its connection is lost, and hints because it may have missed a notification', async () => {
    const hints = listenTo('lossy');
    await hints.next();
    await database.query(`select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen "lossy"'`);
    expect(await hints.next()).toBe('');
    await notify(database, 'lossy', 'after');
    expect(await hints.next()).toBe('after');
    await hints.stop();
  });

  it('receives nothing from a transaction that is rolled back', async () => {
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

  it('ends on abort while no server is reachable', async () => {
    const controller = new AbortController();
    const ended = listen(
      { url: 'postgresql://nobody@127.0.0.1:1/none', log },
      { channel: 'x', onNotification: () => undefined, signal: controller.signal },
    );
    controller.abort();
    await expect(ended).resolves.toBeUndefined();
  });

  it('closes its connection when it ends', async () => {
    const hints = listenTo('gone');
    await hints.next();
    await hints.stop();
    await expect
      .poll(async () => (await database.query(`select 1 from pg_stat_activity where query = 'listen "gone"'`)).rowCount)
      .toBe(0);
  });
});
