import { describe, expect, it } from 'vitest';
import {
  RefusedUrl,
  retryTransfer,
  TransferFailed,
  TransientFault,
  type RetryDeps,
} from '#worker-image/transfer/retry-transfer.ts';

/** Returns deps with a clock that advances only while the transfer waits. */
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

describe('retryTransfer', () => {
  it('waits longer after each failure until the transfer succeeds', async () => {
    const deps = clockDeps();
    let tries = 0;
    const result = await retryTransfer(deps, never, () => {
      tries += 1;
      return tries < 8 ? Promise.reject(new TransientFault('503')) : Promise.resolve('done');
    });
    expect(result).toBe('done');
    expect(deps.waits).toEqual([250, 500, 1000, 2000, 4000, 8000, 8000]);
  });

  it('throws TransferFailed after ten minutes without a transferred byte', async () => {
    const deps = clockDeps();
    await expect(retryTransfer(deps, never, () => Promise.reject(new TransientFault('down')))).rejects.toThrow(
      TransferFailed,
    );
    expect(deps.now()).toBeGreaterThan(590_000);
    expect(deps.now()).toBeLessThanOrEqual(600_000);
  });

  it('continues while bytes are transferred, for 20 tries at most', async () => {
    const deps = clockDeps();
    let tries = 0;
    const interrupted = retryTransfer(deps, never, (onBytes) => {
      tries += 1;
      onBytes();
      return Promise.reject(new TransientFault('interrupted'));
    });
    await expect(interrupted).rejects.toThrow('the transfer failed 20 times: interrupted');
    expect(tries).toBe(20);
  });

  it('throws TransferFailed for the third URL that is refused', async () => {
    const deps = clockDeps();
    const refused = retryTransfer(deps, never, () => Promise.reject(new RefusedUrl('403')));
    await expect(refused).rejects.toThrow('the transfer failed 3 times: 403');
    expect(deps.waits).toEqual([250, 500]);
  });

  it('does not retry a permanent error', async () => {
    const deps = clockDeps();
    await expect(retryTransfer(deps, never, () => Promise.reject(new Error('404')))).rejects.toThrow('404');
    expect(deps.waits).toEqual([]);
  });

  it('throws the reason of an abort', async () => {
    const stop = new AbortController();
    const stopped = retryTransfer(
      clockDeps(),
      stop.signal,
      () => (stop.abort(new Error('canceled')), Promise.reject(new TransientFault('cut'))),
    );
    await expect(stopped).rejects.toThrow('canceled');
  });
});
