import { expect, it } from 'vitest';
import { SeenPodTimes } from '#controller/pod-times.ts';

it('SeenPodTimes keeps the first time at which a pod was seen to run and to end, until the pod is forgotten', () => {
  let seconds = 0;
  const times = new SeenPodTimes(() => new Date(seconds * 1000));
  const pod = { metadata: { name: 'pod', uid: 'uid-1', resourceVersion: '1', creationTimestamp: '' } };
  expect(times.runningSince(pod)).toEqual(new Date(0));
  seconds = 5;
  expect(times.runningSince(pod)).toEqual(new Date(0));
  expect(times.endedAt(pod)).toEqual(new Date(5000));
  times.forget(pod);
  seconds = 9;
  expect([times.runningSince(pod), times.endedAt(pod)]).toEqual([new Date(9000), new Date(9000)]);
});
