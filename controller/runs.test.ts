import { expect, it } from 'vitest';
import { isUnfinishedRun, mediaJobOfRun, runName, type RunState } from '#controller/runs.ts';

it('the name of a run contains the name of its MediaJob, also one that looks like a run', () => {
  expect(runName('job-1', 2)).toBe('job-1-a2');
  for (const name of ['job-1', 'job-a1-a2']) expect(mediaJobOfRun(runName(name, 12))).toBe(name);
});

it.each<[boolean, RunState]>([
  [true, { state: 'waiting', waitingFor: null }],
  [true, { state: 'active', startedAt: new Date(0), isOnReadyNode: true }],
  [false, { state: 'lost', cause: 'crashed', message: 'it crashed' }],
])('isUnfinishedRun returns %j for %j', (expected, status) => {
  const run = { name: 'job-1-a1', owner: { name: 'job-1', uid: 'uid' }, attempt: 1, node: null, status };
  expect(isUnfinishedRun(run)).toBe(expected);
});
