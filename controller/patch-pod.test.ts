import { describe, expect, it } from 'vitest';
import { patchPod } from '#controller/patch-pod.ts';

const TEMPLATE = {
  metadata: { annotations: { own: 'a' } },
  spec: {
    restartPolicy: 'Never',
    tolerations: [{ key: 'a' }],
    containers: [
      {
        name: 'worker',
        env: [{ name: 'A', value: '1' }],
        volumeMounts: [{ name: 'work', mountPath: '/work' }],
        resources: { limits: { memory: '1Gi' } },
      },
    ],
  },
};

describe('a patch of the pod template', () => {
  it('changes the fields that it names and keeps all others', () => {
    expect(patchPod(TEMPLATE, [{ spec: { dnsPolicy: 'None' } }, undefined])).toEqual({
      ...TEMPLATE,
      spec: { ...TEMPLATE.spec, dnsPolicy: 'None' },
    });
  });

  it('merges containers, environment and volumes by name, and mounts by path', () => {
    const worker = {
      name: 'worker',
      env: [{ name: 'B', value: '2' }],
      volumeMounts: [{ name: 'work', mountPath: '/models' }],
      resources: { limits: { 'nvidia.com/gpu': '1' } },
    };
    expect(patchPod(TEMPLATE, [{ spec: { containers: [{ name: 'sidecar', image: 's' }, worker] } }])).toMatchObject({
      spec: {
        containers: [
          {
            name: 'worker',
            env: [
              { name: 'A', value: '1' },
              { name: 'B', value: '2' },
            ],
            volumeMounts: [
              { name: 'work', mountPath: '/work' },
              { name: 'work', mountPath: '/models' },
            ],
            resources: { limits: { memory: '1Gi', 'nvidia.com/gpu': '1' } },
          },
          { name: 'sidecar', image: 's' },
        ],
      },
    });
  });

  it('replaces lists of items without a name, and removes fields by null', () => {
    expect(patchPod(TEMPLATE, [{ spec: { tolerations: [{ key: 'b' }], restartPolicy: null } }])).toEqual({
      ...TEMPLATE,
      spec: { containers: TEMPLATE.spec.containers, tolerations: [{ key: 'b' }] },
    });
  });

  it('applies several in their order', () => {
    const patches = ['a', 'b'].map((own) => ({ metadata: { annotations: { own, [own]: 'set' } } }));
    expect(patchPod(TEMPLATE, patches)).toMatchObject({ metadata: { annotations: { own: 'b', a: 'set', b: 'set' } } });
  });
});
