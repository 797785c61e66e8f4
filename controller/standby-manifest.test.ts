import { describe, expect, it } from 'vitest';
import { bindPatch, buildStandbyJob, buildStandbyTemplate, SMALL_INPUT_BYTES } from '#controller/standby-manifest.ts';
import { buildJob } from '#controller/job-manifest.ts';
import { resourcesOf, workerPodSchema } from '#controller/worker-pod.ts';
import { buildRunRequest } from '#test/contract/runs.ts';
import { buildTicket } from '#test/support/build-media-job.ts';

interface Job {
  readonly metadata: { name: string; labels: Record<string, string>; annotations: Record<string, string> };
  readonly spec: { suspend?: boolean; template: { metadata: { labels: object; annotations: object }; spec: Pod } };
}
interface Pod {
  readonly containers: readonly [{ env: readonly { name: string; value: string }[]; resources: object }];
  readonly volumes: readonly { name: string; secret?: object; projected?: object }[];
}

const URL = 'http://mediajobs-controller:8091/standby';
const parse = (settings: object = {}) => workerPodSchema.parse({ image: 'registry/worker:1', ...settings });

function build(settings: object = {}): Job {
  return buildStandbyJob(buildStandbyTemplate(parse(settings), 'image', URL), 'standby-image-x') as Job;
}

describe('buildStandbyJob', () => {
  it('is found as a standby and not as a run, and is a worker for network policies', () => {
    const { metadata, spec } = build();
    for (const labels of [metadata.labels, spec.template.metadata.labels]) {
      expect(labels).toMatchObject({ 'mediajobs.dev/standby': 'image', 'app.kubernetes.io/component': 'worker' });
      expect(labels).not.toHaveProperty('mediajobs.dev/attempt');
    }
  });

  it('has the pod of an attempt with a small input, but no Secret and no token that the API server accepts', () => {
    const { spec: pod, metadata } = build().spec.template;
    expect(pod).toMatchObject({ restartPolicy: 'Never', automountServiceAccountToken: false });
    const { requests, limits } = resourcesOf(parse(), { kind: 'image', inputSize: SMALL_INPUT_BYTES });
    expect(pod.containers[0].resources).toEqual({ requests, limits });
    expect(pod.volumes.filter(({ secret }) => secret !== undefined)).toEqual([]);
    expect(JSON.stringify(pod.volumes.map(({ projected }) => projected))).toContain(
      '"audience":"mediajobs.dev/standby"',
    );
    expect(pod.containers[0].env).toContainEqual({ name: 'MEDIAJOBS_STANDBY_URL', value: URL });
    expect(metadata.annotations).toMatchObject({ 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true' });
  });

  it('has another hash after a change of image or settings', () => {
    const hash = (settings: object) => buildStandbyTemplate(parse(settings), 'image', URL).hash;
    const before = hash({});
    expect(hash({})).toBe(before);
    const changes = [{ image: 'registry/worker:2' }, { kinds: { image: { nodeSelector: { disk: 'fast' } } } }];
    for (const change of changes) expect(hash(change)).not.toBe(before);
    expect(hash({ kinds: { pdf: { nodeSelector: { disk: 'fast' } } } })).toBe(before);
  });
});

describe('bindPatch', () => {
  it('requires the version that was read, and names the attempt and its owner, nothing secret', () => {
    const request = buildRunRequest('secret-name.jpg');
    const metadata = { name: 's', uid: 'u', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' };
    const patch = bindPatch({ metadata }, request, { now: new Date('2026-01-01T01:00:00Z'), jobsPerPod: 1 });
    expect(patch).toMatchObject({
      metadata: {
        uid: 'u',
        resourceVersion: '7',
        annotations: { 'mediajobs.dev/bound-to': `${request.owner.name}-a1`, 'mediajobs.dev/jobs': '1' },
        ownerReferences: [expect.objectContaining(request.owner)],
      },
      spec: { activeDeadlineSeconds: 3600 + request.spec.timeoutSeconds + 900 },
    });
    const { filename, heartbeatTokens } = buildTicket({ filename: 'secret-name.jpg' });
    for (const secret of [String(filename), ...heartbeatTokens]) expect(JSON.stringify(patch)).not.toContain(secret);
  });
});

describe('bindPatch of a standby of several jobs', () => {
  it('counts its attempts, and makes none of them its owner', () => {
    const annotations = { 'mediajobs.dev/bound-to': 'job-before-a1', 'mediajobs.dev/jobs': '3' };
    const metadata = {
      name: 's',
      uid: 'u',
      resourceVersion: '7',
      creationTimestamp: '2026-01-01T00:00:00Z',
      annotations,
    };
    const patch = bindPatch({ metadata }, buildRunRequest('any'), { now: new Date(), jobsPerPod: 5 });
    expect(patch).toMatchObject({ metadata: { annotations: { 'mediajobs.dev/jobs': '4' } } });
    expect(JSON.stringify(patch)).not.toContain('ownerReferences');
  });
});

describe('the Job of an attempt that runs in a standby', () => {
  it('is suspended and names it', () => {
    const job = buildJob(parse(), buildRunRequest('any'), 'standby-image-x') as Job;
    expect(job).toMatchObject({
      metadata: { annotations: { 'mediajobs.dev/runs-in': 'standby-image-x' } },
      spec: { suspend: true },
    });
  });
});

describe('standbys in the settings', () => {
  it('are refused for a kind with a queue', () => {
    const refused = workerPodSchema.safeParse({ image: 'w', standby: { pdf: 1 }, kinds: { pdf: { queueName: 'q' } } });
    expect(refused.error?.issues[0]).toMatchObject({ path: ['standby', 'pdf'] });
    expect(
      workerPodSchema.safeParse({ image: 'w', standby: { image: 1 }, kinds: { pdf: { queueName: 'q' } } }).success,
    ).toBe(true);
    expect(workerPodSchema.safeParse({ image: 'w', standby: { image: 1 }, queueName: 'q' }).success).toBe(false);
  });
});
