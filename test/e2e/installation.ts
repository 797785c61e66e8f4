/** The chart as the tests install it, as an evaluation, and a client that speaks HTTPS to the API's own Service. */
import type { lookup, LookupAddress } from 'node:dns';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KINDS } from '#crds/catalogue/formats.ts';
import { helm, kubectl, kubectlJson, NAMESPACE } from '#test/e2e/commands.ts';
import { makeApiClient, type ApiClient } from '#test/support/api-client.ts';

export const RELEASE = 'mediajobs';
export const CHART = 'charts/mediajobs';
/** Where it is installed from: `hack/e2e` pushes it to a registry, such as `oci://127.0.0.1:5000/charts/mediajobs`. */
const PUBLISHED = process.env['E2E_CHART'];
const SOURCE = PUBLISHED === undefined ? [CHART] : [PUBLISHED, '--plain-http'];

/** Small enough for a node of two cores. */
const SMALL = { replicas: 1, resources: { requests: { cpu: '20m', memory: '96Mi' }, limits: { memory: '512Mi' } } };
export const IMAGE = { tag: process.env['E2E_IMAGE_TAG'] ?? '', registry: process.env['E2E_REGISTRY'] ?? '' };
const VALUES = {
  evaluation: { enabled: true },
  image: IMAGE,
  secrets: { keep: false },
  crds: { keep: false },
  service: { type: 'NodePort' },
  privateTargets: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  api: SMALL,
  courier: SMALL,
  recorder: { ...SMALL, replicas: 2 },
  controller: { ...SMALL, replicas: 2 },
  engine: {
    ...SMALL,
    children: 2,
    resources: { requests: { cpu: '20m', memory: '256Mi' }, limits: { memory: '4Gi' } },
  },
  worker: {
    kinds: {
      ...Object.fromEntries(KINDS.map((kind) => [kind, { resources: { requests: { cpu: '400m' } } }])),
      // Files whose name has no known extension get too little memory, for the test of that failure.
      unknown: { resources: { requests: { cpu: '400m', memory: '32Mi' }, limits: { memory: '48Mi' } } },
    },
  },
};

/** As the chart names it. */
export const IMAGE_OF_SERVICE = [VALUES.image.registry, `mediajobs-service:${VALUES.image.tag}`]
  .filter(Boolean)
  .join('/');

/** Key of a release whose chart rendered the Secret of the keys, as charts up to 0.1.0 did. */
export const EARLIER_PEPPER = 'the pepper of an earlier release';

/** Installs a release that has only the Secret of an earlier chart. */
export async function installEarlierRelease(): Promise<void> {
  const chart = await mkdtemp(join(tmpdir(), 'earlier-chart-'));
  await mkdir(join(chart, 'templates'));
  await writeFile(join(chart, 'Chart.yaml'), JSON.stringify({ apiVersion: 'v2', name: 'mediajobs', version: '0.0.1' }));
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: `${RELEASE}-keys` } };
  const stringData = { MEDIAJOBS_KEY_PEPPER: EARLIER_PEPPER };
  await writeFile(join(chart, 'templates', 'secrets.yaml'), JSON.stringify({ ...secret, stringData }));
  await helm('install', RELEASE, chart);
  await rm(chart, { recursive: true });
}

/** The release that `hack/e2e --earlier COMMIT` has built. */
const EARLIER_CHART = process.env['E2E_EARLIER_CHART'];
export const EARLIER_IMAGE = { ...IMAGE, tag: process.env['E2E_EARLIER_TAG'] };

/** Installs what the tests begin with: this release, or the earlier one. */
export async function installFirst(values: object): Promise<void> {
  if (EARLIER_CHART === undefined) await install(values);
  else await upgradeTo([EARLIER_CHART], { ...values, image: EARLIER_IMAGE });
}

/** Installs or upgrades to this release, and waits until everything serves. `values` come on top. */
export async function install(values: object): Promise<void> {
  await upgradeTo(SOURCE, values);
}

async function upgradeTo(source: readonly string[], values: object): Promise<void> {
  const given = Object.entries({ ...VALUES, ...values }).flatMap(([name, value]) => [
    '--set-json',
    `${name}=${JSON.stringify(value)}`,
  ]);
  await helm('upgrade', '--install', RELEASE, ...source, '--wait', '--timeout', '8m', ...given);
}

/** Upgrades to an installation with these values of `worker`, such as standbys. */
export async function installWorker(worker: object, values: object): Promise<void> {
  await install({ ...values, worker: { ...VALUES.worker, ...worker } });
}

export async function uninstall(): Promise<void> {
  await helm('uninstall', RELEASE, '--wait', '--timeout', '5m');
}

/** Runs `mediactl` in the API's pod and returns its output. */
export async function mediactl(...args: string[]): Promise<Record<string, any>> {
  const output = await kubectl('exec', `deploy/${RELEASE}-api`, '--', 'mediactl', '--json', ...args);
  return JSON.parse(output) as Record<string, any>;
}

interface Service {
  readonly spec: { readonly ports: readonly { readonly name: string; readonly nodePort: number }[] };
}
interface Nodes {
  readonly items: readonly { readonly status: { readonly addresses: readonly { type: string; address: string }[] } }[];
}

/** Returns a client through the node port of the Service, with the certificate's name. */
export async function connectToApi(key: string): Promise<ApiClient> {
  const service = await kubectlJson<Service>('get', 'service', `${RELEASE}-api`);
  const port = service.spec.ports.find(({ name }) => name === 'https')?.nodePort;
  const nodes = await kubectlJson<Nodes>('get', 'nodes');
  const address = nodes.items[0]?.status.addresses.find(({ type }) => type === 'InternalIP')?.address ?? '';
  const ca = await kubectl('get', 'secret', `${RELEASE}-tls`, '--output', 'jsonpath={.data.ca\\.crt}');
  const host = `${RELEASE}-api.${NAMESPACE}.svc`;
  const toNode = ((_name: string, options: { all?: boolean }, done: Found) =>
    options.all === true ? done(null, [{ address, family: 4 }]) : done(null, address, 4)) as typeof lookup;
  const connection = { ca: Buffer.from(ca, 'base64'), lookup: toNode, servername: host };
  const client = makeApiClient({ baseUrl: `https://${host}:${port}`, connection }, key);
  // Links name the Service's own port.
  const call = (async (method, path, sending) => client(method, path.replace(/^https:\/\/[^/]+/, ''), sending)) as Call;
  return Object.assign(call, { close: () => client.close() });
}

type Call = (...request: Parameters<ApiClient>) => ReturnType<ApiClient>;
type Found = (error: null, address: string | LookupAddress[], family?: number) => void;
