import { describe, expect, it } from 'vitest';
import { buildJob } from '#controller/job-manifest.ts';
import { workerPodSchema } from '#controller/worker-pod.ts';
import { joinRunSpec } from '#crds/contract/run-files.ts';
import { completeRunSpec } from '#crds/contract/run-spec.ts';
import { buildTicketSecret } from '#crds/media-jobs/ticket-secret.ts';
import { buildRunRequest } from '#test/contract/runs.ts';
import { buildTicket } from '#test/support/build-media-job.ts';

interface Job {
  readonly metadata: { name: string; labels: Record<string, string>; ownerReferences: { uid: string; name: string }[] };
  readonly spec: {
    backoffLimit: number;
    suspend: boolean;
    template: {
      metadata: { labels: Record<string, string>; annotations: Record<string, string> };
      spec: Record<string, unknown>;
    };
  };
}

interface PodSpec {
  readonly containers: readonly [{ readonly env: readonly { name: string; value: string }[] }];
  readonly volumes: readonly [{ readonly secret: { secretName: string; items: { key: string; path: string }[] } }];
}

interface SecretData {
  readonly data: Readonly<Record<string, string>>;
}

const request = buildRunRequest('holiday.mp4', 1, 2);

function build(settings: object = {}): Job {
  return buildJob(workerPodSchema.parse({ image: 'registry/worker:1', ...settings }), request) as Job;
}

describe('buildJob', () => {
  it('names the Job for MediaJob and attempt, sets its owner and disables retries', () => {
    const { metadata, spec } = build();
    expect(metadata.name).toBe(`${request.owner.name}-a2`);
    expect(metadata.ownerReferences).toEqual([expect.objectContaining({ ...request.owner, kind: 'MediaJob' })]);
    expect(metadata.labels).toMatchObject({
      'mediajobs.dev/job': request.owner.name,
      'mediajobs.dev/attempt': '2',
      'mediajobs.dev/account': request.account,
    });
    expect(spec.template.metadata.labels).toMatchObject(metadata.labels);
    expect(spec).toMatchObject({ backoffLimit: 0, completions: 1, parallelism: 1, suspend: false });
  });

  it('sets a security context that the restricted profile accepts', () => {
    const pod = build().spec.template.spec;
    expect(pod).toMatchObject({
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'worker',
          image: 'registry/worker:1',
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    });
    for (const volume of pod['volumes'] as { emptyDir?: { sizeLimit?: string } }[])
      if (volume.emptyDir !== undefined) expect(volume.emptyDir.sizeLimit).toMatch(/^\d+(Mi)?$/);
  });

  it('sets a pod deadline 15 minutes after the timeout of the run', () => {
    expect(build().spec.template.spec['activeDeadlineSeconds']).toBeGreaterThan(request.spec.timeoutSeconds);
  });

  it('contains no file name or token', () => {
    const { filename, heartbeatTokens } = buildTicket();
    const text = JSON.stringify(build());
    for (const secret of [filename, ...heartbeatTokens]) expect(text).not.toContain(secret);
  });

  it('mounts the secret part of the spec of its own attempt only', () => {
    const { containers, volumes } = build().spec.template.spec as unknown as PodSpec;
    const settings = Object.fromEntries(containers[0].env.map(({ name, value }) => [name, value]));
    const owner = { metadata: { ...request.owner, resourceVersion: '1', creationTimestamp: '' } };
    const ticket = buildTicket();
    const secret = buildTicketSecret({ owner, name: request.secretName, ticket, labels: {} }) as SecretData;
    const mounted = volumes[0].secret.items.map(({ key }) => Buffer.from(secret.data[key] ?? '', 'base64').toString());
    expect(volumes[0].secret.secretName).toBe(request.secretName);
    expect(settings['MEDIAJOBS_RUN_SPEC_FILE']?.split(':')).toEqual(
      volumes[0].secret.items.map(({ path }) => `/run/mediajobs/${path}`),
    );
    const parts = [settings['MEDIAJOBS_RUN_SPEC'] ?? '', ...mounted].map((text) => JSON.parse(text) as object);
    expect(joinRunSpec(parts)).toEqual(completeRunSpec(request.spec, ticket));
    expect(mounted.join('')).not.toMatch(/token-[13]/);
  });

  it('contains nothing in its environment that a kubelet would expand', () => {
    const { containers } = build().spec.template.spec as unknown as PodSpec;
    for (const { value } of containers[0].env) expect(value).not.toContain('$(');
  });

  it('applies the settings of the operator', () => {
    const { metadata, spec } = build({
      runtimeClassName: 'gvisor',
      hostUsers: false,
      priorityClassName: 'media',
      queueName: 'batch',
      nodeSelector: { disk: 'fast' },
      labels: { team: 'media' },
    });
    expect(spec.template.spec).toMatchObject({
      runtimeClassName: 'gvisor',
      hostUsers: false,
      priorityClassName: 'media',
      nodeSelector: { disk: 'fast' },
    });
    expect(metadata.labels).toMatchObject({ 'kueue.x-k8s.io/queue-name': 'batch', team: 'media' });
    expect(spec.suspend).toBe(true);
  });

  it('asks autoscalers to leave the pod alone, unless the operator says otherwise', () => {
    const [stock, own] = [{}, { 'karpenter.sh/do-not-disrupt': 'false', team: 'media' }].map(
      (annotations) => build({ annotations }).spec.template.metadata.annotations,
    );
    const [autoscaler, karpenter] = ['cluster-autoscaler.kubernetes.io/safe-to-evict', 'karpenter.sh/do-not-disrupt'];
    expect(stock).toEqual({ [autoscaler]: 'false', [karpenter]: 'true' });
    expect(own).toEqual({ [autoscaler]: 'false', [karpenter]: 'false', team: 'media' });
  });

  it('omits settings that are not set', () => {
    const pod = build().spec.template.spec;
    for (const name of ['runtimeClassName', 'hostUsers', 'priorityClassName', 'serviceAccountName'])
      expect(pod).not.toHaveProperty(name);
  });

  it('overrides the settings of all kinds by those of the kind of the file', () => {
    const { metadata, spec } = build({
      queueName: 'batch',
      runtimeClassName: 'gvisor',
      nodeSelector: { disk: 'fast' },
      tolerations: [{ key: 'media' }],
      kinds: {
        video: {
          queueName: 'gpu',
          priorityClassName: 'low',
          nodeSelector: { gpu: 'yes' },
          tolerations: [{ key: 'gpu' }],
          affinity: { nodeAffinity: {} },
          resources: { limits: { 'nvidia.com/gpu': '1' } },
        },
        image: { runtimeClassName: 'kata' },
      },
    });
    expect(metadata.labels).toMatchObject({ 'kueue.x-k8s.io/queue-name': 'gpu' });
    expect(spec.template.spec).toMatchObject({
      runtimeClassName: 'gvisor',
      priorityClassName: 'low',
      nodeSelector: { disk: 'fast', gpu: 'yes' },
      tolerations: [{ key: 'gpu' }],
      affinity: { nodeAffinity: {} },
      containers: [{ resources: { limits: { 'nvidia.com/gpu': '1', memory: '4096Mi' } } }],
    });
  });

  it('applies the patch of all kinds and then that of the kind, but keeps the labels of the service', () => {
    const { spec } = build({
      podPatch: { metadata: { labels: { 'mediajobs.dev/job': 'other', team: 'a' } }, spec: { hostNetwork: false } },
      kinds: { video: { podPatch: { metadata: { labels: { team: 'b' } }, spec: { shareProcessNamespace: true } } } },
    });
    expect(spec.template.metadata.labels).toMatchObject({ 'mediajobs.dev/job': request.owner.name, team: 'b' });
    expect(spec.template.spec).toMatchObject({ hostNetwork: false, shareProcessNamespace: true });
  });

  it('adds environment, volumes and trusted certificates to those of the worker', () => {
    const { containers, volumes } = build({
      extraEnv: [{ name: 'HTTPS_PROXY', value: 'http://proxy' }],
      extraVolumes: [{ name: 'fonts', configMap: { name: 'fonts' } }],
      extraVolumeMounts: [{ name: 'fonts', mountPath: '/usr/share/fonts/own' }],
      trustedCa: { configMap: 'ca', key: 'ca.crt' },
    }).spec.template.spec as unknown as PodSpec & { containers: [{ volumeMounts: object[] }] };
    expect(containers[0].env).toEqual(
      expect.arrayContaining([
        { name: 'HTTPS_PROXY', value: 'http://proxy' },
        { name: 'NODE_EXTRA_CA_CERTS', value: '/etc/mediajobs/trusted-ca/ca.pem' },
      ]),
    );
    expect(containers[0].volumeMounts).toEqual(
      expect.arrayContaining([
        { name: 'fonts', mountPath: '/usr/share/fonts/own' },
        { name: 'trusted-ca', mountPath: '/etc/mediajobs/trusted-ca', readOnly: true },
      ]),
    );
    expect(volumes).toEqual(
      expect.arrayContaining([
        { name: 'trusted-ca', configMap: { name: 'ca', items: [{ key: 'ca.crt', path: 'ca.pem' }] } },
      ]),
    );
  });

  it('sets no user or group when the platform sets them', () => {
    const securityContext = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
    expect(build({ securityContext }).spec.template.spec['securityContext']).toEqual(securityContext);
  });
});
