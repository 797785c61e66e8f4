import { expect, it } from 'vitest';
import { PhaseTimes } from '#worker-image/phase-times.ts';

it('each phase ends with the next one, and the last one when the list is read', () => {
  let now = 1000;
  const times = new PhaseTimes(() => now, 900);
  expect(times.list()).toEqual([]);
  times.begin('fetch');
  now = 1250.4;
  times.begin('process');
  now = 2000;
  expect(times.list()).toEqual([
    { phase: 'fetch', startMs: 100, endMs: 350 },
    { phase: 'process', startMs: 350, endMs: 1100 },
  ]);
});
