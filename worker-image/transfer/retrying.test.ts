import { describe, expect, it } from 'vitest';
import { retrying, TransferFailed, TransientFault, type RetryDeps } from '#worker-image/transfer/retrying.ts';

/** Time moves only while the transfer waits. */
function clockDeps(): RetryDeps & { waits: number[] } {
  let now = 0;
  const waits: number[] = [];
  return {
    waits,
    now: () => now,
    random: () => 1,
    wait: (milliseconds) => {
      waits.push(milliseconds);
      now += milliseconds;
      return Promise.resolve();
    },
  };
}

const never = new AbortController().signal;

describe('retrying', () => {
  it('waits longer each time until a try succeeds', async () => {
    const deps = clockDeps();
    let tries = 0;
    const result = await retrying(deps, never, () => {
      tries += 1;
      return tries < 8 ? Promise.reject(new TransientFault('503')) : Promise.resolve('done');
    });
    expect(result).toBe('done');
    expect(deps.waits).toEqual([250, 500, 1000, 2000, 4000, 8000, 8000]);
  });

  it('gives up after a minute in which nothing moved', async () => {
    const deps = clockDeps();
    await expect(retrying(deps, never, () => Promise.reject(new TransientFault('down')))).rejects.toThrow(
      TransferFailed,
    );
    expect(deps.now()).toBeGreaterThan(45_000);
    expect(deps.now()).toBeLessThanOrEqual(60_000);
  });

  it('goes on longer while bytes move, but not for ever', async () => {
    const deps = clockDeps();
    let tries = 0;
    const cutOff = retrying(deps, never, (moved) => {
      tries += 1;
      moved();
      return Promise.reject(new TransientFault('cut off'));
    });
    await expect(cutOff).rejects.toThrow('given up after 20 tries: cut off');
    expect(tries).toBe(20);
  });

  it('does not repeat what failed for good', async () => {
    const deps = clockDeps();
    await expect(retrying(deps, never, () => Promise.reject(new Error('404')))).rejects.toThrow('404');
    expect(deps.waits).toEqual([]);
  });

  it('ends with the reason of an abort', async () => {
    const stop = new AbortController();
    const stopped = retrying(
      clockDeps(),
      stop.signal,
      () => (stop.abort(new Error('canceled')), Promise.reject(new TransientFault('cut'))),
    );
    await expect(stopped).rejects.toThrow('canceled');
  });
});
