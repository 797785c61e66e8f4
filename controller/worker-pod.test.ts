import { describe, expect, it } from 'vitest';
import { resourcesOf, workerPodSchema } from '#controller/worker-pod.ts';

describe('resourcesOf', () => {
  const settings = workerPodSchema.parse({
    image: 'worker',
    kinds: { video: { resources: { requests: { cpu: '4' }, limits: { memory: '16Gi' } } } },
  });
  const GB = 1024 ** 3;

  it('increases the resources with the size of the input', () => {
    const small = resourcesOf(settings, { kind: 'pdf', inputSize: 1000 });
    const large = resourcesOf(settings, { kind: 'pdf', inputSize: 2 * GB });
    expect(small).toMatchObject({ requests: { memory: '256Mi' }, limits: { memory: '2056Mi' } });
    expect(large.limits['memory']).toBe('4096Mi');
    expect(large.workBytes).toBeGreaterThan(16 * GB);
  });

  it('returns defaults for an unknown kind', () => {
    expect(resourcesOf(settings, { kind: null, inputSize: null }).requests['cpu']).toBe('500m');
  });

  it('overrides the defaults of a kind with the settings of the operator', () => {
    const { requests, limits } = resourcesOf(settings, { kind: 'video', inputSize: 1000 });
    expect(requests).toMatchObject({ cpu: '4', memory: '512Mi' });
    expect(limits).toMatchObject({ memory: '16Gi' });
  });

  it.each([
    ['limits', { limits: { memory: '100Mi' } }, { requests: '100Mi', limits: '100Mi' }],
    ['requests', { requests: { memory: '8Gi' } }, { requests: '8Gi', limits: '8Gi' }],
  ])('never requests more than its limit when only %s are given', (_which, given, memory) => {
    const { kinds } = workerPodSchema.parse({ image: 'worker', kinds: { image: { resources: given } } });
    const { requests, limits } = resourcesOf({ kinds }, { kind: 'image', inputSize: null });
    expect({ requests: requests['memory'], limits: limits['memory'] }).toEqual(memory);
  });
});

describe('workerPodSchema', () => {
  it.each([
    [{ requests: { memory: '1Gi' }, limits: { memory: '512Mi' } }, /lower the request or raise the limit/],
    [{ limits: { memory: 'much' } }, /must be a quantity/],
  ])('rejects settings that no pod could satisfy: %j', (given, message) => {
    const { error } = workerPodSchema.safeParse({ image: 'worker', kinds: { image: { resources: given } } });
    expect(error?.message).toMatch(message);
  });
});
