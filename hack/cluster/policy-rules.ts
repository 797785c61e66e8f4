/**
 * What NetworkPolicies allow, as rules of iptables for the node that all pods run on.
 *
 *   MEDIAJOBS-WALLS: a connection that stands passes; a packet from a pod goes through that pod's …-OUT chain, a packet
 *   to a pod through its …-IN chain. Such a chain returns what a policy allows and drops the rest. Pods under the same
 *   policies share a chain; a pod under none has none.
 *
 * IPv4 only, ports by number: what else a policy says is refused with an error.
 */
import { subtractNetworks } from './subtract-networks.ts';

/** Every packet that is forwarded, or meant for the node itself, has to pass it after its destination was translated. */
export const WALLS = 'MEDIAJOBS-WALLS';

export interface WalledCluster {
  readonly policies: readonly Policy[];
  readonly pods: readonly PlacedPod[];
  /** Labels by name. */
  readonly namespaces: ReadonlyMap<string, Labels>;
}

/** One that has an address of its own. */
export interface PlacedPod {
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

/** Each chain with its rules, as `iptables-restore` reads them. @throws Error that names the policy which says too much. */
export function wallRules(cluster: WalledCluster): Map<string, string[]> {
  const walls = ['-m conntrack --ctstate RELATED,ESTABLISHED -j RETURN'];
  const chains = new Map([[WALLS, walls]]);
  for (const { address } of cluster.pods) walls.push(`-s ${address}/32 -d ${address}/32 -j RETURN`);
  for (const direction of ['Egress', 'Ingress'] as const) {
    for (const { policies, pods } of groupsOf(cluster, direction)) {
      const chain = `${DIRECTIONS[direction].chain}-${chains.size}`;
      chains.set(chain, [...policies.flatMap((policy) => allowed(cluster, policy, direction)), '-j DROP']);
      for (const { address } of pods) walls.push(`${DIRECTIONS[direction].pod} ${address}/32 -j ${chain}`);
    }
  }
  return chains;
}

interface Group {
  readonly policies: readonly Policy[];
  readonly pods: PlacedPod[];
}

function groupsOf({ policies, pods }: WalledCluster, direction: Direction): Group[] {
  const groups = new Map<string, Group>();
  for (const pod of pods) {
    const own = policies.filter((policy) => holdsFor(policy, pod) && policy.spec.policyTypes.includes(direction));
    if (own.length === 0) continue;
    const key = own.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).join();
    const group = groups.get(key) ?? { policies: own, pods: [] };
    group.pods.push(pod);
    groups.set(key, group);
  }
  return [...groups.values()];
}

function holdsFor({ metadata, spec }: Policy, { namespace, labels }: PlacedPod): boolean {
  return metadata.namespace === namespace && matches(spec.podSelector, labels);
}

function allowed(cluster: WalledCluster, policy: Policy, direction: Direction): string[] {
  const rules = direction === 'Egress' ? policy.spec.egress : policy.spec.ingress;
  return (rules ?? []).flatMap((rule) => {
    const peers = direction === 'Egress' ? rule.to : rule.from;
    const places = anyOr(peers, (peer) =>
      networksOf(cluster, policy, peer).map((network) => `${DIRECTIONS[direction].peer} ${network} `),
    );
    const ports = anyOr(rule.ports, (port) => [portMatch(policy, port)]);
    return places.flatMap((place) => ports.map((port) => `${place}${port}-j RETURN`));
  });
}

/** In a rule an absent or empty list allows everything. */
function anyOr<Entry>(entries: readonly Entry[] | undefined, match: (entry: Entry) => string[]): string[] {
  return entries === undefined || entries.length === 0 ? [''] : entries.flatMap(match);
}

function networksOf({ pods, namespaces }: WalledCluster, { metadata }: Policy, peer: Peer): string[] {
  const { ipBlock, podSelector = {}, namespaceSelector } = peer;
  if (ipBlock?.cidr.includes(':') === true) return [];
  if (ipBlock !== undefined) return subtractNetworks(ipBlock.cidr, ipBlock.except ?? []);
  const found = pods.filter(({ namespace, labels }) => {
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
