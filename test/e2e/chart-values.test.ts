/** What values of the chart do to its objects, and what the schema says to wrong ones. Needs no cluster. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { workerPodSchema, type WorkerPod } from '#controller/worker-pod.ts';

const CHART = 'charts/mediajobs';
const SETUPS = ['production', 'evaluation'] as const;
const PROCESSES = ['api', 'recorder', 'courier', 'controller', 'engine'];
const STORES = ['postgresql', 'redis', 's3'];

interface Manifest {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: { readonly template?: Pod } & Record<string, unknown>;
  readonly subjects?: readonly { readonly namespace: string }[];
}
interface Pod {
  readonly metadata: { readonly labels: Record<string, string>; readonly annotations?: Record<string, string> };
  readonly spec: Record<string, unknown> & {
    readonly containers: readonly (Record<string, unknown> & {
      readonly name: string;
      readonly env: readonly { readonly name: string; readonly value?: string }[];
    })[];
  };
}

function render(setup: (typeof SETUPS)[number], values: object = {}, more: readonly string[] = []): Manifest[] {
  const sets = Object.entries(values).flatMap(([name, value]) => ['--set-json', `${name}=${JSON.stringify(value)}`]);
  const args = ['template', 'mediajobs', CHART, '--namespace', 'media', '--kube-version', '1.34.0', ...more];
  const text = execFileSync('helm', [...args, '--values', `${CHART}/ci/${setup}-values.yaml`, ...sets], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return parseAllDocuments(text).flatMap((document) => (document.toJS() as Manifest | null) ?? []);
}

/** Returns the pods by the name of their container. */
function podsOf(manifests: readonly Manifest[]): Map<string, Pod> {
  const pods = manifests.flatMap((manifest) => {
    if (manifest.kind === 'Pod') return [manifest as unknown as Pod];
    return manifest.spec?.template === undefined ? [] : [manifest.spec.template];
  });
  return new Map(pods.map((pod) => [pod.spec.containers[0]?.name ?? '', pod]));
}

function workerPodOf(manifests: readonly Manifest[]): WorkerPod {
  const env = podsOf(manifests).get('controller')?.spec.containers[0]?.env ?? [];
  return workerPodSchema.parse(JSON.parse(env.find(({ name }) => name === 'MEDIAJOBS_WORKER_POD')?.value ?? ''));
}

const isHookOf = (event: string, { metadata }: Manifest): boolean =>
  metadata.annotations?.['helm.sh/hook']?.split(',').includes(event) ?? false;

/** Settings of a pod, with the field of the pod that each sets. */
const SETTINGS: Readonly<Record<string, unknown>> = {
  podLabels: { team: 'media' },
  podAnnotations: { note: 'text' },
  securityContext: { supplementalGroups: [7] },
  containerSecurityContext: { privileged: false },
  nodeSelector: { disk: 'fast' },
  tolerations: [{ key: 'media', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
  topologySpreadConstraints: [{ maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' }],
  priorityClassName: 'high',
  runtimeClassName: 'gvisor',
};
const EXTRA: Readonly<Record<string, unknown>> = {
  extraEnv: [{ name: 'OWN', value: 'yes' }],
  extraEnvFrom: [{ configMapRef: { name: 'own' } }],
  extraVolumes: [{ name: 'own', emptyDir: {} }],
  extraVolumeMounts: [{ name: 'own', mountPath: '/own' }],
};

function expectSettings({ metadata, spec }: Pod, extra: boolean): void {
  const { podLabels, podAnnotations, containerSecurityContext, ...pod } = SETTINGS;
  expect(metadata).toMatchObject({ labels: podLabels, annotations: podAnnotations });
  expect(spec).toMatchObject(pod);
  const [container] = spec.containers;
  expect(container).toMatchObject({ securityContext: containerSecurityContext });
  if (!extra) return;
  expect(spec['volumes']).toEqual(expect.arrayContaining(EXTRA['extraVolumes'] as object[]));
  expect(container?.env).toEqual(expect.arrayContaining(EXTRA['extraEnv'] as object[]));
  expect(container).toMatchObject({ envFrom: EXTRA['extraEnvFrom'] });
  expect(container?.['volumeMounts']).toEqual(expect.arrayContaining(EXTRA['extraVolumeMounts'] as object[]));
}

describe('renders of the chart', () => {
  it.each(SETUPS)('are equal: %s', (setup) => {
    expect(render(setup)).toEqual(render(setup));
    expect(render(setup, { 'secrets.existingSecret': '', 'tls.existingSecret': '' })).toEqual(
      render(setup, { 'secrets.existingSecret': '', 'tls.existingSecret': '' }),
    );
  });

  it.each(SETUPS)('contain no key, certificate or password that the chart has made: %s', (setup) => {
    const manifests = render(setup, { 'secrets.existingSecret': '', 'tls.existingSecret': '' });
    expect(manifests.filter(({ kind }) => kind === 'Secret')).toEqual([]);
  });

  it('make Secrets by a hook before install and upgrade, in pods that policies and accounts of earlier hooks admit', () => {
    const manifests = render('production', {
      'secrets.existingSecret': '',
      'tls.existingSecret': '',
      'trustedCa.existingConfigMap': '',
      'trustedCa.pem': '-----BEGIN CERTIFICATE-----',
      'database.existingSecret': '',
      'database.url': 'postgresql://d',
    });
    for (const event of ['pre-install', 'pre-upgrade']) {
      const hooks = manifests.filter((manifest) => isHookOf(event, manifest));
      const weight = ({ metadata }: Manifest): number => Number(metadata.annotations?.['helm.sh/hook-weight']);
      const jobs = hooks.filter(({ kind }) => kind === 'Job');
      expect(jobs.map(({ metadata }) => metadata.name.replace(/-[0-9a-f]{8}$/, ''))).toEqual([
        'mediajobs-new-secrets',
        'mediajobs-migrate',
      ]);
      const others = hooks.filter(({ kind }) => kind !== 'Job');
      expect(Math.max(...others.map((hook) => weight(hook)))).toBeLessThan(Math.min(...jobs.map((job) => weight(job))));
      const kindsOf = (name: string): string[] =>
        others.filter(({ metadata }) => metadata.name.startsWith(name)).map(({ kind }) => kind);
      expect(kindsOf('mediajobs-new-secrets').toSorted()).toEqual([
        'NetworkPolicy',
        'Role',
        'RoleBinding',
        'ServiceAccount',
      ]);
      expect(kindsOf('mediajobs-migrate').toSorted()).toEqual(['ConfigMap', 'NetworkPolicy', 'Secret']);
    }
  });

  it('give Jobs another name when their spec changes, because a Job cannot be changed', () => {
    const names = (values: object): string[] =>
      render('evaluation', values)
        .filter(({ kind }) => kind === 'Job')
        .map(({ metadata }) => metadata.name);
    const changed = names({ 'image.tag': '9.9.9' });
    expect(names({}).filter((name) => changed.includes(name))).toEqual([]);
    expect(new Set(changed).size).toBe(3);
  });

  it('delete the Secrets with the release only where that is wanted', () => {
    const planOf = (values: object): unknown => {
      const env = podsOf(render('evaluation', values)).get('secrets')?.spec.containers[0]?.env ?? [];
      return JSON.parse(env.find(({ name }) => name === 'MEDIAJOBS_SECRETS')?.value ?? '');
    };
    expect(planOf({})).toMatchObject({ keys: { name: 'mediajobs-keys', keep: true } });
    expect(planOf({ 'secrets.keep': false })).toMatchObject({ keys: { keep: false } });
  });
});

describe('settings of pods', () => {
  it('reach every workload of its own', () => {
    for (const component of [...PROCESSES, 'makeSecrets', 'migrate', 'test']) {
      const own = Object.entries({ ...SETTINGS, ...EXTRA }).map(([name, value]) => [`${component}.${name}`, value]);
      const pods = podsOf(render('evaluation', Object.fromEntries(own)));
      const pod = pods.get(component === 'makeSecrets' ? 'secrets' : component);
      expectSettings(pod as Pod, true);
      expect(JSON.stringify(pods.get(component === 'api' ? 'engine' : 'api'))).not.toContain('/own');
    }
  });

  it('reach the pods of jobs, of all kinds and of one', () => {
    const worker = { ...SETTINGS, ...EXTRA, queueName: 'media', kinds: { video: { maxRunning: 2, queueName: 'gpu' } } };
    const { podLabels, podAnnotations, ...same } = worker as Record<string, unknown>;
    const pod = workerPodOf(render('evaluation', { worker }));
    expect(pod).toMatchObject({ ...same, annotations: podAnnotations, labels: podLabels });
  });

  it('reach all workloads as defaults, which those of a workload override', () => {
    const defaults = Object.entries(SETTINGS).map(([name, value]) => [`defaults.${name}`, value]);
    const manifests = render('evaluation', {
      ...Object.fromEntries(defaults),
      'api.priorityClassName': 'highest',
      'api.nodeSelector': { zone: 'a' },
    });
    const pods = podsOf(manifests);
    expect([...pods.keys()].toSorted()).toEqual([...PROCESSES, ...STORES, 'migrate', 'secrets', 'test'].toSorted());
    const api = pods.get('api');
    expect(api?.spec).toMatchObject({ priorityClassName: 'highest', nodeSelector: { disk: 'fast', zone: 'a' } });
    pods.delete('api');
    for (const pod of pods.values()) expectSettings(pod, false);
    expect(workerPodOf(manifests)).toMatchObject({ priorityClassName: 'high', nodeSelector: { disk: 'fast' } });
  });

  it.each([
    ['the cluster is OpenShift', {}, ['--api-versions', 'security.openshift.io/v1']],
    ['openshift is true', { openshift: true }, []],
  ])('name no user and group when %s', (_when, values, more) => {
    const manifests = render('evaluation', values, more);
    const pods = [...podsOf(manifests).values()].map(({ spec }) => spec['securityContext']);
    for (const securityContext of [...pods, workerPodOf(manifests).securityContext])
      expect(securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
  });

  it('let the platform set what is null', () => {
    const { spec } = podsOf(render('evaluation', { 'defaults.securityContext.runAsUser': null })).get('api') as Pod;
    expect(spec['securityContext']).not.toHaveProperty('runAsUser');
    expect(spec['securityContext']).toMatchObject({ fsGroup: 1000 });
  });
});

describe('trusted authorities', () => {
  const USERS = ['api', 'courier', 'migrate', 'recorder', 'test'];
  const trusting = (manifests: readonly Manifest[]): string[] =>
    [...podsOf(manifests)]
      .filter(([, { spec }]) => spec.containers[0]?.env.some(({ name }) => name === 'NODE_EXTRA_CA_CERTS'))
      .map(([name]) => name)
      .toSorted();

  it('reach the clients of all stores, and the pods of jobs', () => {
    const manifests = render('production', { 'trustedCa.existingConfigMap': 'bundle', 'trustedCa.key': 'root.pem' });
    expect(trusting(manifests)).toEqual(USERS);
    expect(workerPodOf(manifests).trustedCa).toEqual({ configMap: 'bundle', key: 'root.pem' });
    for (const name of USERS)
      expect(podsOf(manifests).get(name)?.spec['volumes']).toEqual(
        expect.arrayContaining([
          { name: 'trusted-ca', configMap: { name: 'bundle', items: [{ key: 'root.pem', path: 'ca.pem' }] } },
        ]),
      );
  });

  it('are a ConfigMap in both namespaces, and restart the pods when they change', () => {
    const values = (pem: string) => ({
      'trustedCa.existingConfigMap': '',
      'trustedCa.pem': `-----BEGIN CERTIFICATE-----${pem}`,
      'worker.namespace': 'work',
    });
    const manifests = render('production', values('a'));
    const maps = manifests.filter(({ metadata }) => metadata.name === 'mediajobs-trusted-ca');
    expect(maps.map(({ metadata }) => metadata.namespace)).toEqual(['media', 'work']);
    const annotations = (pem: string) => podsOf(render('production', values(pem))).get('api')?.metadata.annotations;
    expect(annotations('a')).not.toEqual(annotations('b'));
  });

  it('are none without the value', () => {
    const manifests = render('evaluation');
    expect(trusting(manifests)).toEqual([]);
    expect(workerPodOf(manifests)).not.toHaveProperty('trustedCa');
  });
});

describe('traces', () => {
  const SENDERS = ['api', 'controller', 'courier', 'recorder'];
  const url = 'http://collector.observability.svc:4318/v1/traces';
  const to = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'observability' } } }];
  const peers = (manifests: readonly Manifest[]): string[] =>
    manifests
      .filter(({ kind, spec }) => kind === 'NetworkPolicy' && JSON.stringify(spec).includes('observability'))
      .map(({ metadata }) => metadata.name.replace('mediajobs-', ''))
      .toSorted();
  const settings = (manifests: readonly Manifest[]): Record<string, string | undefined>[] =>
    [...podsOf(manifests)].flatMap(([process, { spec }]) => {
      const env = spec.containers[0]?.env.filter(({ name }) => name.startsWith('MEDIAJOBS_TRACES_')) ?? [];
      return env.length === 0 ? [] : [{ process, ...Object.fromEntries(env.map(({ name, value }) => [name, value])) }];
    });
  const values = { 'tracing.url': url, 'tracing.share': 0.25, 'networkPolicies.traces.to': to };

  it('are sent by the processes that have the address and the share, and whose policies allow it', () => {
    const manifests = render('evaluation', values);
    expect(settings(manifests).toSorted((a, b) => String(a['process']).localeCompare(String(b['process'])))).toEqual(
      SENDERS.map((process) => ({ process, MEDIAJOBS_TRACES_URL: url, MEDIAJOBS_TRACES_SHARE: '0.25' })),
    );
    expect(peers(manifests)).toEqual(SENDERS);
    const rules = manifests.find(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'mediajobs-api');
    expect(rules?.spec?.['egress']).toContainEqual({ ports: [{ port: 4318, protocol: 'TCP' }], to });
  });

  it('are none by default, and then no policy allows anything more', () => {
    expect(settings(render('evaluation'))).toEqual([]);
    expect(peers(render('evaluation', { 'networkPolicies.traces.to': to }))).toEqual([]);
  });

  it('are sent with the trusted authorities', () => {
    const controller = podsOf(render('production', values)).get('controller');
    expect(controller?.spec.containers[0]?.env).toContainEqual(
      expect.objectContaining({ name: 'NODE_EXTRA_CA_CERTS' }),
    );
  });

  it.each([
    ['an address of another kind', { 'tracing.url': 'grpc://collector:4317' }],
    ['a share above 1', { 'tracing.url': url, 'tracing.share': 10 }],
  ])('are refused with %s', (_what, wrong) => {
    expect(() => render('evaluation', wrong)).toThrow(/tracing/);
  });
});

describe('namespaces and permissions', () => {
  it('have no Role, RoleBinding and ClusterRole with rbac.create=false', () => {
    const kinds = render('evaluation', { 'rbac.create': false }).map(({ kind }) => kind);
    expect(kinds.filter((kind) => /Role/.test(kind))).toEqual([]);
    expect(kinds).toContain('ServiceAccount');
  });

  it('have no object of the cluster when the definition of MediaJob is provided', () => {
    const kinds = render('evaluation', { 'crds.enabled': false }).map(({ kind }) => kind);
    expect(kinds.filter((kind) => /Cluster|CustomResource/.test(kind))).toEqual([]);
  });

  it('grant work on jobs in the namespace of jobs only, to accounts of the release', () => {
    const manifests = render('production', { 'worker.namespace': 'work' });
    const granted = (namespace: string | undefined): string[] =>
      manifests
        .filter(({ kind, metadata }) => kind === 'Role' && metadata.namespace === namespace)
        .map(({ metadata }) => metadata.name)
        .toSorted();
    expect(granted('work')).toEqual(['mediajobs-controller', 'mediajobs-recorder']);
    expect(granted(undefined)).toEqual(['mediajobs-controller-leases', 'mediajobs-recorder-leases']);
    for (const { subjects = [] } of manifests) for (const { namespace } of subjects) expect(namespace).toBe('media');
    for (const process of ['controller', 'recorder'])
      expect(podsOf(manifests).get(process)?.spec.containers[0]?.env).toContainEqual({
        name: 'MEDIAJOBS_NAMESPACE',
        value: 'work',
      });
  });

  it('connect the pods of jobs in their namespace with the controller in that of the release', () => {
    const manifests = render('evaluation', { 'worker.namespace': 'work' });
    const policy = (name: string) =>
      JSON.stringify(manifests.find(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === name));
    const inNamespace = (name: string) =>
      `"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"${name}"}`;
    expect(policy('mediajobs-worker')).toContain('"namespace":"work"');
    expect(policy('mediajobs-worker')).toContain(inNamespace('media'));
    expect(policy('mediajobs-controller')).toContain(inNamespace('work'));
    expect(policy('mediajobs-s3')).toContain(inNamespace('work'));
    expect(policy('mediajobs-api')).not.toContain(inNamespace('work'));
  });
});

describe('a certificate of cert-manager', () => {
  it('has the public names, which every issuer signs, and those of the value, and replaces the generated one', () => {
    const certManager = { enabled: true, issuerRef: { name: 'company' }, dnsNames: ['mediajobs-api.media.svc'] };
    const values = {
      'tls.existingSecret': '',
      'tls.certManager': certManager,
      'dashboard.host': 'console.example.com',
    };
    const manifests = render('production', values);
    const certificate = manifests.find(({ kind }) => kind === 'Certificate');
    expect(certificate?.spec).toMatchObject({
      secretName: 'mediajobs-tls',
      issuerRef: { name: 'company' },
      dnsNames: ['media.example.com', 'console.example.com', 'mediajobs-api.media.svc'],
    });
    expect(JSON.stringify(manifests)).not.toContain('make-secrets.ts');
  });
});

describe('ports of network policies', () => {
  const portsOf = (values: object): unknown[] => {
    const { spec } = render('production', values).find(
      ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'mediajobs-recorder',
    ) ?? { spec: {} };
    const egress = (spec as { egress: { ports?: { port: number }[] }[] }).egress;
    return egress.flatMap(({ ports = [] }) => ports.map(({ port }) => port));
  };

  it('are those of the addresses, unless a value names another one', () => {
    const values = {
      'database.url': 'postgresql://u:p@db.example.com:6432/media',
      's3.endpoint': 'http://s3.media.svc:9000',
    };
    expect(portsOf(values)).toEqual(expect.arrayContaining([6432, 9000]));
    expect(portsOf({ ...values, 'networkPolicies.s3.port': 9001 })).toEqual(expect.arrayContaining([6432, 9001]));
    expect(portsOf({})).toEqual(expect.arrayContaining([5432, 443]));
  });
});

describe('the schema of the values', () => {
  const schema = JSON.parse(readFileSync(`${CHART}/values.schema.json`, 'utf8')) as Schema;
  interface Schema {
    readonly $ref?: string;
    readonly $defs?: Readonly<Record<string, Schema>>;
    readonly properties?: Readonly<Record<string, Schema>>;
    readonly additionalProperties?: boolean | Schema;
  }
  /** Returns the paths of the values that a schema or the values themselves name. */
  const inSchema = ({ properties = {} }: Schema, path = ''): string[] =>
    Object.entries(properties).flatMap(([name, below]) =>
      below.properties === undefined ? [`${path}${name}`] : inSchema(below, `${path}${name}.`),
    );
  const inValues = (values: object, known: Schema, path = ''): string[] =>
    Object.entries(values).flatMap(([name, value]) => {
      const below = known.properties?.[name];
      if (below?.properties === undefined) return [`${path}${name}`];
      return inValues(value as object, below, `${path}${name}.`);
    });

  it('has each value, and no value that the chart does not have', () => {
    const values = parse(readFileSync(`${CHART}/values.yaml`, 'utf8')) as object;
    const free = /^global|^worker\.(kinds|podPatch|standby)|^tls\.certManager\.issuerRef/;
    const named = inSchema(schema).filter((path) => !free.test(path));
    expect(named.toSorted()).toEqual(
      inValues(values, schema)
        .filter((path) => !free.test(path))
        .toSorted(),
    );
  });

  it.each([
    ['worker.kinds.movie.maxRunning=1', 'movie'],
    ['worker.maxRunning=0', 'maxRunning'],
    ['worker.kinds.video.maxRunning=-1', 'maxRunning'],
    ['worker.kinds.video.resources.limits.gpu=1', 'gpu'],
    ['worker.namespace=Not_A_Name', 'namespace'],
    ['api.extraEnv[0].key=x', 'extraEnv'],
    ['api.extraVolumeMounts[0].name=x', 'mountPath'],
    ['api.tolerations[0].efect=NoSchedule', 'efect'],
    ['api.affinity.nodeAfinity.x=1', 'nodeAfinity'],
    ['tls.certManager.enabled=true', 'name'],
    ['trustedCa.pem=/etc/ca.pem', 'pem'],
    ['controller.runsAtOnce=4', 'runsAtOnce'],
    ['openshift=yes', 'openshift'],
  ])('refuses %s', (value, said) => {
    expect(() => render('evaluation', {}, ['--set', value])).toThrow(new RegExp(`schema[^]*${said}`));
  });

  it('accepts extended resources and bare numbers', () => {
    const kinds = { video: { resources: { requests: { cpu: 4 }, limits: { 'nvidia.com/gpu': 1, memory: '8Gi' } } } };
    expect(() => render('evaluation', { 'worker.kinds': kinds })).not.toThrow();
  });
});
