import { describe, expect, it } from 'vitest';
import { supervise, type Running } from '#api/embedded/supervise.ts';

const clock = { now: () => new Date(0) };

/** Returns a process that ends on command, and the number of its starts. */
function makeProcess() {
  const lives: PromiseWithResolvers<string>[] = [];
  const started: PromiseWithResolvers<void>[] = [Promise.withResolvers()];
  const start = async (): Promise<Running> => {
    const life = Promise.withResolvers<string>();
    lives.push(life);
    started.push(Promise.withResolvers());
    started[lives.length - 1]?.resolve();
    return { pid: lives.length, ended: life.promise, stop: async () => life.resolve('stopped') };
  };
  return {
    start,
    die: (how: string) => lives.at(-1)?.resolve(how),
    starts: () => lives.length,
    startOf: (number: number) => started[number - 1]?.promise,
  };
}

function makeDeps() {
  const stopping = new AbortController();
  const reported: string[] = [];
  return {
    stopping,
    reported,
    deps: {
      clock,
      report: (line: string) => void reported.push(line),
      onChange: () => undefined,
      signal: stopping.signal,
    },
  };
}

describe('supervise', () => {
  it('restarts a process that died, and logs it', async () => {
    const { deps, reported, stopping } = makeDeps();
    const process = makeProcess();
    const supervised = await supervise(deps, { name: 'api', start: process.start });
    process.die('signal SIGKILL');
    await process.startOf(2);
    process.die('exit code 1');
    await process.startOf(3);
    stopping.abort();
    await supervised.stop();
    expect(reported).toEqual([
      'api ended (signal SIGKILL) and is being restarted',
      'api ended (exit code 1) and is being restarted',
    ]);
  });

  it('retries when a later start fails', async () => {
    const { deps, reported, stopping } = makeDeps();
    const process = makeProcess();
    let failures = 2;
    const start = async (): Promise<Running> => {
      if (process.starts() > 0 && failures > 0) {
        failures -= 1;
        throw new Error('no room');
      }
      return process.start();
    };
    const supervised = await supervise(deps, { name: 'api', start });
    process.die('exit code 1');
    await process.startOf(2);
    stopping.abort();
    await supervised.stop();
    expect(reported.filter((line) => line === 'api did not start: no room')).toHaveLength(2);
  });

  it('rejects with the first failure', async () => {
    const { deps } = makeDeps();
    await expect(supervise(deps, { name: 'api', start: () => Promise.reject(new Error('no port')) })).rejects.toThrow(
      'no port',
    );
  });

  it('starts no process once the service is stopping', async () => {
    const { deps, reported, stopping } = makeDeps();
    const process = makeProcess();
    const supervised = await supervise(deps, { name: 'api', start: process.start });
    stopping.abort();
    await supervised.stop();
    expect(process.starts()).toBe(1);
    expect(reported).toEqual([]);
  });
});
