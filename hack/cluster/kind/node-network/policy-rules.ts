/**
 * NetworkPolicies as iptables rules for the pods of one node of a test cluster.
 *
 *   MEDIAJOBS-POLICIES: accepts packets of established connections; a packet from a pod goes through that pod's …-OUT
 *   chain, a packet to a pod through its …-IN chain. Such a chain returns what a policy allows and drops the rest. Pods
 *   under the same policies share a chain; a pod without policies has none.
 *
 * IPv4 only, ports by number: a policy with anything else is refused with an error.
 */
import { subtractNetworks } from './subtract-networks.ts';

/** Chain for every packet that is forwarded or for the node itself, after its destination was translated. */
export const POLICY_CHAIN = 'MEDIAJOBS-POLICIES';

export interface ClusterPolicies {
  readonly policies: readonly Policy[];
  /** Pods whose packets the rules are for. */
  readonly localPods: readonly AddressedPod[];
  /** Pods of other nodes, which rules of peers name. */
  readonly otherPods: readonly AddressedPod[];
  /** Labels by name. */
  readonly namespaces: ReadonlyMap<string, Labels>;
}

/** A pod with an address of its own. */
export interface AddressedPod {
  readonly address: string;
  readonly namespace: string;
  readonly labels: Labels;
}

type Labels = Readonly<Record<string, string>>;

export interface Policy {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: {
    readonly podSelector: Selector;
    readonly policyTypes: readonly Direction[];
    readonly ingress?: readonly Rule[];
    readonly egress?: readonly Rule[];
  };
}

interface Rule {
  readonly ports?: readonly Port[];
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
}

interface Port {
  readonly protocol?: string;
  readonly port?: number | string;
  readonly endPort?: number;
}

interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

interface Selector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
    readonly values?: readonly string[];
  }[];
}

type Direction = 'Ingress' | 'Egress';
const DIRECTIONS = {
  Egress: { chain: 'MEDIAJOBS-OUT', pod: '-s', peer: '-d' },
  Ingress: { chain: 'MEDIAJOBS-IN', pod: '-d', peer: '-s' },
} as const;

/** Returns each chain with its rules for `iptables-restore`. @throws Error for a policy that is not supported. */
export function policyRules(cluster: ClusterPolicies): Map<string, string[]> {
  const first = ['-m conntrack --ctstate RELATED,ESTABLISHED -j RETURN'];
  const chains = new Map([[POLICY_CHAIN, first]]);
  for (const { address } of cluster.localPods) first.push(`-s ${address}/32 -d ${address}/32 -j RETURN`);
  for (const direction of ['Egress', 'Ingress'] as const) {
    for (const { policies, pods } of groupsOf(cluster, direction)) {
      const chain = `${DIRECTIONS[direction].chain}-${chains.size}`;
      chains.set(chain, [...policies.flatMap((policy) => allowed(cluster, policy, direction)), '-j DROP']);
      for (const { address } of pods) first.push(`${DIRECTIONS[direction].pod} ${address}/32 -j ${chain}`);
    }
  }
  return chains;
}

interface Group {
  readonly policies: readonly Policy[];
  readonly pods: AddressedPod[];
}

function groupsOf({ policies, localPods }: ClusterPolicies, direction: Direction): Group[] {
  const groups = new Map<string, Group>();
  for (const pod of localPods) {
    const own = policies.filter((policy) => holdsFor(policy, pod) && policy.spec.policyTypes.includes(direction));
    if (own.length === 0) continue;
    const key = own.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).join();
    const group = groups.get(key) ?? { policies: own, pods: [] };
    group.pods.push(pod);
    groups.set(key, group);
  }
  return [...groups.values()];
}

function holdsFor({ metadata, spec }: Policy, { namespace, labels }: AddressedPod): boolean {
  return metadata.namespace === namespace && matches(spec.podSelector, labels);
}

function allowed(cluster: ClusterPolicies, policy: Policy, direction: Direction): string[] {
  const rules = direction === 'Egress' ? policy.spec.egress : policy.spec.ingress;
  return (rules ?? []).flatMap((rule) => {
    const peers = direction === 'Egress' ? rule.to : rule.from;
    const addresses = anyOr(peers, (peer) =>
      networksOf(cluster, policy, peer).map((network) => `${DIRECTIONS[direction].peer} ${network} `),
    );
    const ports = anyOr(rule.ports, (port) => [portMatch(policy, port)]);
    return addresses.flatMap((address) => ports.map((port) => `${address}${port}-j RETURN`));
  });
}

/** Returns the matches of the entries; an absent or empty list of a rule allows everything. */
function anyOr<Entry>(entries: readonly Entry[] | undefined, match: (entry: Entry) => string[]): string[] {
  return entries === undefined || entries.length === 0 ? [''] : entries.flatMap(match);
}

function networksOf({ localPods, otherPods, namespaces }: ClusterPolicies, { metadata }: Policy, peer: Peer): string[] {
  const { ipBlock, podSelector = {}, namespaceSelector } = peer;
  if (ipBlock?.cidr.includes(':') === true) return [];
  if (ipBlock !== undefined) return subtractNetworks(ipBlock.cidr, ipBlock.except ?? []);
  const found = [...localPods, ...otherPods].filter(({ namespace, labels }) => {
    const isThere =
      namespaceSelector === undefined
        ? namespace === metadata.namespace
        : matches(namespaceSelector, namespaces.get(namespace) ?? {});
    return isThere && matches(podSelector, labels);
  });
  return found.map(({ address }) => `${address}/32`);
}

function portMatch({ metadata }: Policy, { protocol = 'TCP', port, endPort }: Port): string {
  if (typeof port === 'string')
    throw new Error(`NetworkPolicy ${metadata.namespace}/${metadata.name} names port ${port}: give its number`);
  const range = [port, endPort].filter((end) => end !== undefined).join(':');
  return `-p ${protocol.toLowerCase()} ${range === '' ? '' : `--dport ${range} `}`;
}

function matches({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      const isListed = value !== undefined && values.includes(value);
      return { In: isListed, NotIn: !isListed, Exists: value !== undefined, DoesNotExist: value === undefined }[
        operator
      ];
    })
  );
}
