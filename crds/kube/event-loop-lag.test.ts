import { expect, it } from 'vitest';
import { watchEventLoopLag } from '#crds/kube/event-loop-lag.ts';

it('watchEventLoopLag reports the lag of a blocked event loop', async () => {
  const lag = watchEventLoopLag(10);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  expect(lag.worstMs()).toBeGreaterThan(150);
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect(lag.worstMs()).toBeGreaterThan(150);
  lag.stop();
});
