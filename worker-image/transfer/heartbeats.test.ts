import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startHeartbeats, type HeartbeatSender } from '#worker-image/transfer/heartbeats.ts';
import { startStoreHost, type StoreHost } from '#test/support/store-host.ts';

/** Interval that no test waits for, in seconds. */
const NEVER = 3600;
let host: StoreHost | null;
let beats: HeartbeatSender | null;

beforeEach(() => {
  [host, beats] = [null, null];
});
afterEach(async () => {
  beats?.stop();
  await host?.close();
});

async function start(
  options: { beatStatus?: number; intervalSeconds?: number } = {},
): Promise<{ fenced: () => number }> {
  const { intervalSeconds = NEVER, ...served } = options;
  host = await startStoreHost(served);
  let fenced = 0;
  const target = { jobId: 'job_1', attempt: 1, url: host.url, token: 'beat-token', intervalSeconds };
  beats = startHeartbeats(target, () => (fenced += 1));
  return { fenced: () => fenced };
}

const percents = (): number[] => host?.beats.map(({ percent }) => percent) ?? [];

describe('startHeartbeats', () => {
  it('sends 0 percent with the token at once', async () => {
    await start();
    await expect.poll(() => host?.beats).toEqual([{ percent: 0, authorization: 'Bearer beat-token' }]);
  });

  it('sends a rise by 5 percent before the interval ends, as a whole number up to 99', async () => {
    await start();
    beats?.report(4.9);
    beats?.report(5);
    await expect.poll(percents).toEqual([0, 5]);
    beats?.report(100);
    await expect.poll(percents).toEqual([0, 5, 99]);
  });

  // Promise, States: Processing begins with the worker's first heartbeat; percent never decreases
  it('sends the highest percentage when it falls', async () => {
    await start({ intervalSeconds: 0.05 });
    beats?.report(3);
    beats?.report(1);
    await expect.poll(() => percents().at(-1)).toBe(3);
  });

  it.each([
    [410, 'reports', true],
    [500, 'does not report', false],
  ])('with status %i %s that the attempt is fenced, and goes on', async (beatStatus, _verb, expected) => {
    const { fenced } = await start({ beatStatus });
    beats?.report(50);
    await expect.poll(percents).toEqual([0, 50]);
    await expect.poll(() => fenced() > 0).toBe(expected);
  });
});
