/**
 * Network of a node of kind, in place of kind's own, whose image only a registry has: an address for each pod of the
 * node, routes to the pods of other nodes, and NetworkPolicies as rules of iptables. systemd starts it in the node.
 *   node node-network.ts --kubeconfig FILE --node NAME --links FOLDER --cni FOLDER
 * `pod-link` writes a file into the folder of links for each pod that gets one, named by its sandbox: address, namespace,
 * name. When the rules hold for that pod, `<file>.enforced` appears beside it, and only then the pod starts.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { connect } from '#crds/kube/connection.ts';
import { makeKubeClient } from '#crds/kube/kube-client.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { makeRateLimit } from '#crds/kube/rate-limit.ts';
import { systemTime } from '#crds/kube/time.ts';
import { makeLog } from '#crds/process/log.ts';
import { followObjects } from './follow-objects.ts';
import { policyRules, POLICY_CHAIN, type AddressedPod, type Policy } from './policy-rules.ts';

const ENFORCED = '.enforced';
/** Addresses of all pods, as kind gives them to kubeadm. */
const POD_NETWORK = '10.244.0.0/16';
const { kubeconfig, node, links, cni } = parseArgs({
  options: {
    kubeconfig: { type: 'string', default: '/etc/kubernetes/kubelet.conf' },
    node: { type: 'string', default: '' },
    links: { type: 'string', default: '/run/pod-links' },
    cni: { type: 'string', default: '/etc/cni/net.d' },
  },
}).values;

const log = makeLog('node-network', 'info');
const client = makeKubeClient({
  connection: connect(kubeconfig),
  rateLimit: makeRateLimit(systemTime, { perSecond: 100, burst: 100 }),
  time: systemTime,
  metrics: { requested: () => undefined },
});
/** Rules that the kernel has now. */
let held = new Map<string, string[]>();
/** True while an update of the rules is scheduled, and before the first, which needs all objects. */
let isDue = true;

mkdirSync(links, { recursive: true });
const deps = { client, log };
const policies = await followObjects(deps, '/apis/networking.k8s.io/v1/networkpolicies', renewSoon);
const pods = await followObjects(deps, '/api/v1/pods', renewSoon);
const namespaces = await followObjects(deps, '/api/v1/namespaces', renewSoon);
watch(links, renewSoon);
isDue = false;
renewPolicies();
for (const hook of ['FORWARD', 'INPUT']) ensureRule('mangle', hook, ['-j', POLICY_CHAIN]);
ensureRule('nat', 'POSTROUTING', ['-s', POD_NETWORK, '!', '-d', POD_NETWORK, '-j', 'MASQUERADE']);
const nodes = await followObjects(deps, '/api/v1/nodes', () => setImmediate(renewRoutes));
renewRoutes();
log.info('policies hold');

/** Once for everything that has come together. */
function renewSoon(): void {
  if (isDue) return;
  isDue = true;
  setImmediate(() => {
    isDue = false;
    try {
      renewPolicies();
    } catch (error) {
      log.error({ err: error }, 'the rules could not be renewed');
    }
  });
}

function ensureRule(table: string, chain: string, rule: readonly string[]): void {
  try {
    execFileSync('iptables', ['-w', '-t', table, '-C', chain, ...rule], { stdio: 'ignore' });
  } catch {
    execFileSync('iptables', ['-w', '-t', table, '-I', chain, ...rule]);
  }
}

interface NodeObject extends KubeObject {
  readonly spec: { readonly podCIDR?: string };
  readonly status: { readonly addresses: readonly { readonly type: string; readonly address: string }[] };
}

/** Routes the pods of other nodes to them. The own addresses are known with the own node's, and the node gets ready. */
function renewRoutes(): void {
  for (const { metadata, spec, status } of nodes.values() as MapIterator<NodeObject>) {
    const address = status.addresses.find(({ type }) => type === 'InternalIP')?.address;
    if (spec.podCIDR === undefined || address === undefined) continue;
    if (metadata.name === node) writeCniConfig(spec.podCIDR);
    else execFileSync('ip', ['route', 'replace', spec.podCIDR, 'via', address]);
  }
}

/** A link for each pod, so that all of its traffic passes the rules of Services. */
function writeCniConfig(subnet: string): void {
  const ipam = {
    type: 'host-local',
    dataDir: '/run/pod-addresses',
    ranges: [[{ subnet }]],
    routes: [{ dst: '0.0.0.0/0' }],
  };
  const plugins = [
    { type: 'pod-link', ipMasq: false, ipam },
    { type: 'portmap', capabilities: { portMappings: true } },
  ];
  const file = join(cni, '10-mediajobs.conflist');
  const content = JSON.stringify({ cniVersion: '1.0.0', name: 'mediajobs', plugins });
  writeFileSync(`${file}.new`, content);
  renameSync(`${file}.new`, file);
}

function renewPolicies(): void {
  const localPods = linkedPods();
  const labels = [...namespaces.values()].map(({ metadata }) => [metadata.name, metadata.labels ?? {}] as const);
  const rules = policyRules({
    policies: [...policies.values()] as unknown as Policy[],
    localPods,
    otherPods: podsOfOtherNodes(),
    namespaces: new Map(labels),
  });
  if (JSON.stringify([...rules]) !== JSON.stringify([...held])) replaceRules(rules);
  for (const { link, isEnforced } of localPods) if (!isEnforced) writeFileSync(link + ENFORCED, '');
}

interface LinkedPod extends AddressedPod {
  readonly link: string;
  readonly isEnforced: boolean;
}

/** Returns the node's own pods with an address; one that the watch has not shown yet follows with its event. */
function linkedPods(): LinkedPod[] {
  const files = new Set(readdirSync(links));
  const written = [...files].filter((file) => !file.includes('.'));
  return written.flatMap((file) => {
    const link = join(links, file);
    const [address = '', namespace = '', name = ''] = readLink(link);
    const pod = pods.get(`${namespace}/${name}`);
    if (pod === undefined) return [];
    return [{ address, namespace, labels: pod.metadata.labels ?? {}, link, isEnforced: files.has(file + ENFORCED) }];
  });
}

function readLink(link: string): string[] {
  try {
    return readFileSync(link, 'utf8').trim().split(' ');
  } catch {
    // The pod was deleted meanwhile.
    return [];
  }
}

interface PodObject extends KubeObject {
  readonly spec: { readonly nodeName?: string; readonly hostNetwork?: boolean };
  readonly status: { readonly podIP?: string; readonly phase?: string };
}

/** Their address is known from their status, shortly after they have it. Ended pods have none any more. */
function podsOfOtherNodes(): AddressedPod[] {
  return ([...pods.values()] as PodObject[]).flatMap(({ metadata, spec, status: { podIP, phase } }) => {
    if (podIP === undefined || spec.nodeName === node || spec.hostNetwork === true) return [];
    if (phase === 'Succeeded' || phase === 'Failed') return [];
    return [{ address: podIP, namespace: metadata.namespace ?? '', labels: metadata.labels ?? {} }];
  });
}

/** Replaces all rules in one transaction of the kernel, and deletes chains that no rule calls. */
function replaceRules(rules: Map<string, string[]>): void {
  const unused = [...held.keys()].filter((chain) => !rules.has(chain));
  const lines = [
    '*mangle',
    ...[...rules.keys(), ...unused].map((chain) => `:${chain} - [0:0]`),
    ...[...rules].flatMap(([chain, own]) => own.map((rule) => `-A ${chain} ${rule}`)),
    ...unused.map((chain) => `-X ${chain}`),
    'COMMIT',
  ];
  execFileSync('iptables-restore', ['--noflush', '--wait=10'], { input: `${lines.join('\n')}\n` });
  held = rules;
}
