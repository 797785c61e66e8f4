/**
 * The chart's NetworkPolicies as traffic. For each kind of pod a probe with its labels tries every address there is: it
 * reaches what the table says and nothing else. What a pod under no policy reaches shows that the addresses answer.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { apply, helm, kubectl, kubectlJson, NAMESPACE, until } from '#test/e2e/commands.ts';
import { podsOf } from '#test/e2e/deployments.ts';
import { CHART, IMAGE_OF_SERVICE, RELEASE } from '#test/e2e/installation.ts';
import { attemptOf, phaseOf, podsOfJob } from '#test/e2e/job-in-cluster.ts';
import { kindNodes, OUTSIDE, startOutside } from '#test/e2e/kind-nodes.ts';
import {
  responseTo,
  PROBE_PORTS,
  reachedBy,
  removeProbes,
  startProbes,
  type PodProbe,
  type Target,
} from '#test/e2e/probe-pods.ts';
import { JOB_SECONDS, LONG_WORK, useService } from '#test/e2e/use-installation.ts';
import { finished } from '#test/support/run-through.ts';

const { api, receiver, createJob, close } = await useService();

const COMPONENTS = ['api', 'recorder', 'courier', 'controller', 'engine', 'worker', 'migrate'] as const;
const STORES = ['postgresql', 'redis', 's3'] as const;
/** Pods under no policy: beside the service's, in another namespace, and in the one that `metricsFrom` names by default. */
const STRANGERS = ['stranger', 'foreigner', 'scraper'] as const;
const MONITORING = 'monitoring';
type Name = (typeof COMPONENTS)[number] | (typeof STORES)[number] | (typeof STRANGERS)[number];
const NAMES: readonly Name[] = [...COMPONENTS, ...STORES, ...STRANGERS];

const METRICS = ['api', 'recorder', 'courier', 'controller', 'engine'].map((name) => `${name}'s metrics`);
const OPEN = [
  'the API',
  'the API server',
  "the node's kubelet",
  'a stranger behind a Service',
  'DNS',
  'the internet',
  "the cloud's metadata",
  ...STRANGERS.flatMap((name) => [`${name}'s port`, `${name}'s metrics`]),
];
/** Where the API server is at any address, so is what listens on its ports elsewhere: `networkPolicies` can name it. */
const API_SERVER = ['the API server', 'the internet'];
const REACHES: Readonly<Record<Name, readonly string[]>> = {
  api: ['DNS', 'PostgreSQL', 'Redis', 'the bucket', 'the engine'],
  recorder: ['DNS', 'PostgreSQL', 'the bucket', ...API_SERVER],
  // The tests' receiver has a private address, which `privateTargets` allows.
  courier: [...OPEN, 'PostgreSQL', 'the bucket'],
  controller: ['DNS', 'the heartbeat port', 'the transfer port', ...API_SERVER],
  engine: [],
  worker: ['DNS', 'the bucket', 'the heartbeat port'],
  migrate: ['DNS', 'PostgreSQL'],
  postgresql: [],
  redis: [],
  s3: [],
  stranger: OPEN,
  foreigner: OPEN,
  scraper: [...OPEN, ...METRICS],
};
/** A release whose courier may not reach private addresses. */
const PUBLIC_ONLY = 'public-only';

/** Whether something answers at the addresses of `OUTSIDE`: on nodes of kind. */
let hasOutside = false;
let removeOutside = (): Promise<void> => Promise.resolve();
let isMonitoringOurs = false;
let isEnforced = true;
let targets: Readonly<Record<string, Target>> = {};
/** By each probe. */
let reached: Readonly<Record<string, readonly string[]>> = {};

beforeAll(async () => {
  const nodes = await kindNodes();
  hasOutside = nodes.length > 0;
  if (hasOutside) removeOutside = await startOutside(nodes);
  isMonitoringOurs = !(await kubectl('get', 'namespaces', '--output', 'name'))
    .split('\n')
    .includes(`namespace/${MONITORING}`);
  if (isMonitoringOurs) apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: MONITORING } });
  const labels = { 'app.kubernetes.io/name': 'mediajobs', 'app.kubernetes.io/component': 'courier' };
  const courier = { ...labels, 'app.kubernetes.io/instance': PUBLIC_ONLY };
  const probes = await Promise.all(NAMES.map((name) => probeOf(name)));
  probes.push({ name: PUBLIC_ONLY, namespace: NAMESPACE, labels: courier });
  await applyCourierPolicy();
  const addresses = await startProbes(IMAGE_OF_SERVICE, probes);
  targets = { ...(await services()), ...portsOf(addresses), ...(hasOutside ? OUTSIDE : {}) };
  const tried = probes.map(async (probe) => [probe.name, await tryAll(probe)] as const);
  reached = Object.fromEntries(await Promise.all(tried));
  isEnforced = hasOutside || reached['stranger']?.includes('Redis') === false;
});
afterAll(async () => {
  await removeProbes([NAMESPACE, 'default', MONITORING]);
  if (isMonitoringOurs) await kubectl('delete', 'namespace', MONITORING, '--wait=false');
  await kubectl('delete', 'networkpolicies', '--selector', `app.kubernetes.io/instance=${PUBLIC_ONLY}`);
  await removeOutside();
  await close();
});

describe('a pod', () => {
  it.for(NAMES)('reaches what it needs and nothing else: %s', (name, { skip }) => {
    if (!isEnforced) skip('this cluster enforces no NetworkPolicies');
    const expected = REACHES[name].filter((target) => target in targets && !target.startsWith(`${name}'s`));
    expect(reached[name]?.toSorted()).toEqual(expected.toSorted());
  });

  it('of the courier reaches public addresses alone where there are no privateTargets', ({ skip }) => {
    if (!isEnforced) skip('this cluster enforces no NetworkPolicies');
    expect(reached[PUBLIC_ONLY]).toEqual(['DNS', ...(hasOutside ? ['the internet'] : [])]);
  });

  it('that may reach the engine gets no response of it without the key of the installation', async () => {
    const engine = targets['the engine'];
    if (engine === undefined || !('port' in engine)) throw new Error('the engine has no address');
    const api = { name: 'api', namespace: NAMESPACE };
    const request = 'POST /process HTTP/1.1\r\nhost: engine\r\ncontent-length: 0\r\n\r\n';
    expect(await responseTo(api, engine, request)).not.toContain('HTTP');
  });

  it('of a job is heard by the controller, and its first attempt is the only one', async () => {
    const id = await createJob(LONG_WORK);
    // Only a heartbeat makes it Running.
    await until('the first heartbeat', JOB_SECONDS, async () => ((await phaseOf(id)) === 'Running' ? true : null));
    expect(await finished(api, id, JOB_SECONDS)).toMatchObject({ status: 'succeeded' });
    expect(await attemptOf(id)).toBe(1);
  });
});

/** All but itself, which a pod reaches without a network. */
function tryAll(probe: PodProbe): Promise<string[]> {
  const others = Object.entries(targets).filter(([target]) => !target.startsWith(`${probe.name}'s`));
  return reachedBy(probe, Object.fromEntries(others));
}

/** With the labels that policies select by, taken from a real pod. */
async function probeOf(name: Name): Promise<PodProbe> {
  if (name === 'foreigner') return { name, namespace: 'default', labels: { app: name } };
  if (name === 'scraper') return { name, namespace: MONITORING, labels: { app: name } };
  if (name === 'stranger') return { name, namespace: NAMESPACE, labels: { app: name } };
  const selector = name === 'worker' ? podsOfJob(await createJob(LONG_WORK)) : podsOf(name);
  const labels = await until(`a pod of ${name}`, 120, async () => {
    const { items } = await kubectlJson<{ items: { metadata: { labels: Record<string, string> } }[] }>(
      'get',
      'pods',
      '--selector',
      selector,
    );
    return items[0]?.metadata.labels ?? null;
  });
  const selecting = Object.entries(labels).filter(([label]) => label.startsWith('app.kubernetes.io/'));
  return { name, namespace: NAMESPACE, labels: Object.fromEntries(selecting) };
}

async function services(): Promise<Record<string, Target>> {
  const address = async (service: string, namespace = NAMESPACE): Promise<string> =>
    kubectl('get', 'service', service, '--namespace', namespace, '--output', 'jsonpath={.spec.clusterIP}');
  const ours = async (component: string, port: number): Promise<Target> => ({
    host: await address(`${RELEASE}-${component}`),
    port,
  });
  const node = 'jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}';
  return {
    'the API': await ours('api', 443),
    'the engine': await ours('engine', 8090),
    'the heartbeat port': await ours('controller', 8091),
    'the transfer port': await ours('recorder', 8092),
    PostgreSQL: await ours('postgresql', 5432),
    Redis: await ours('redis', 6379),
    'the bucket': await ours('s3', 7070),
    'the API server': { host: await address('kubernetes', 'default'), port: 443 },
    "the node's kubelet": { host: await kubectl('get', 'nodes', '--output', node), port: 10_250 },
    'a stranger behind a Service': { host: new URL(receiver.url).hostname, port: 443 },
    DNS: { resolve: 'kubernetes.default.svc.cluster.local' },
  };
}

function portsOf(addresses: ReadonlyMap<string, string>): Record<string, Target> {
  const pairs = NAMES.flatMap((name) =>
    Object.entries(PROBE_PORTS).map(([what, port]) => {
      return [`${name}'s ${what}`, { host: addresses.get(name) ?? '', port }] as const;
    }),
  );
  return Object.fromEntries(pairs);
}

async function applyCourierPolicy(): Promise<void> {
  const only = ['--show-only', 'templates/networkpolicies.yaml', '--set', 'evaluation.enabled=true'];
  const text = await helm('template', PUBLIC_ONLY, CHART, '--kube-version', '1.34.0', ...only);
  for (const document of parseAllDocuments(text)) {
    const policy = document.toJS() as { metadata: { name: string } } | null;
    if (policy?.metadata.name.endsWith('-courier') === true) apply(policy);
  }
}
