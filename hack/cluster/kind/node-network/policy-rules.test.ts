import { describe, expect, it } from 'vitest';
import { policyRules, POLICY_CHAIN, type Policy, type ClusterPolicies } from './policy-rules.ts';

const NAMESPACES = new Map([
  ['media', { team: 'media' }],
  ['other', { team: 'other' }],
]);
const pod = (address: string, app: string, namespace = 'media') => ({ address, namespace, labels: { app } });
const API = pod('10.0.0.1', 'api');
const STORE = pod('10.0.0.2', 'store');
const STRANGER = pod('10.0.0.3', 'api', 'other');
const policy = (spec: Partial<Policy['spec']>): Policy => ({
  metadata: { name: 'limit', namespace: 'media' },
  spec: { podSelector: { matchLabels: { app: 'store' } }, policyTypes: ['Ingress'], ...spec },
});

function rulesOf(policies: readonly Policy[], localPods: ClusterPolicies['localPods'] = [API, STORE, STRANGER]) {
  const { [POLICY_CHAIN]: calls = [], ...chains } = Object.fromEntries(
    policyRules({ policies, localPods, otherPods: [], namespaces: NAMESPACES }),
  );
  return { calls: calls.filter((rule) => rule.includes('-j MEDIAJOBS')), chains: Object.values(chains) };
}

describe('rules of network policies', () => {
  it('allow everything without a policy', () => {
    expect(rulesOf([])).toEqual({ calls: [], chains: [] });
  });

  it('send only the packets of a selected pod, in the direction of the policy, through a chain that drops', () => {
    expect(rulesOf([policy({})])).toEqual({ calls: ['-d 10.0.0.2/32 -j MEDIAJOBS-IN-1'], chains: [['-j DROP']] });
    expect(rulesOf([policy({ policyTypes: ['Egress'] })])).toEqual({
      calls: ['-s 10.0.0.2/32 -j MEDIAJOBS-OUT-1'],
      chains: [['-j DROP']],
    });
  });

  it('accept established connections first', () => {
    const [first] =
      policyRules({ policies: [policy({})], localPods: [STORE], otherPods: [], namespaces: NAMESPACES }).get(
        POLICY_CHAIN,
      ) ?? [];
    expect(first).toBe('-m conntrack --ctstate RELATED,ESTABLISHED -j RETURN');
  });

  it('allow what any policy of the pod allows', () => {
    const policies = [80, 81].map((port) => policy({ ingress: [{ ports: [{ port }] }] }));
    expect(rulesOf(policies).chains).toEqual([
      ['-p tcp --dport 80 -j RETURN', '-p tcp --dport 81 -j RETURN', '-j DROP'],
    ]);
  });

  it.each([
    ['pods of the same namespace', { podSelector: { matchLabels: { app: 'api' } } }, ['10.0.0.1/32']],
    ['every pod of the same namespace', { podSelector: {} }, ['10.0.0.1/32', '10.0.0.2/32']],
    ['pods of other namespaces', { namespaceSelector: { matchLabels: { team: 'other' } } }, ['10.0.0.3/32']],
    [
      'some pods of every namespace',
      { namespaceSelector: {}, podSelector: { matchLabels: { app: 'api' } } },
      ['10.0.0.1/32', '10.0.0.3/32'],
    ],
    ['no pod', { podSelector: { matchLabels: { app: 'none' } } }, []],
    ['a network', { ipBlock: { cidr: '192.168.0.0/30', except: ['192.168.0.0/31'] } }, ['192.168.0.2/31']],
    ['a network of IPv6, which no pod has', { ipBlock: { cidr: 'fd00::/8' } }, []],
  ])('select the peers: %s', (_what, peer, networks) => {
    expect(rulesOf([policy({ ingress: [{ from: [peer] }] })]).chains).toEqual([
      [...networks.map((network) => `-s ${network} -j RETURN`), '-j DROP'],
    ]);
    const out = policy({ policyTypes: ['Egress'], egress: [{ to: [peer] }] });
    expect(rulesOf([out]).chains).toEqual([[...networks.map((network) => `-d ${network} -j RETURN`), '-j DROP']]);
  });

  it.each([
    ['In', ['store', 'api'], true],
    ['In', ['api'], false],
    ['NotIn', ['api'], true],
    ['NotIn', ['store'], false],
    ['Exists', [], true],
    ['DoesNotExist', [], false],
  ] as const)('evaluate the expression %s %j', (operator, values, selected) => {
    const podSelector = { matchExpressions: [{ key: 'app', operator, values }] };
    const { calls } = rulesOf([policy({ podSelector })], [STORE]);
    expect(calls).toHaveLength(selected ? 1 : 0);
  });

  it.each([
    [undefined, '-j RETURN'],
    [[], '-j RETURN'],
    [[{ port: 53, protocol: 'UDP' }], '-p udp --dport 53 -j RETURN'],
    [[{ port: 8000, endPort: 8010 }], '-p tcp --dport 8000:8010 -j RETURN'],
    [[{ protocol: 'SCTP' }], '-p sctp -j RETURN'],
  ])('select the ports %j', (ports, rule) => {
    const given = ports === undefined ? {} : { ports };
    expect(rulesOf([policy({ ingress: [given] })]).chains).toEqual([[rule, '-j DROP']]);
  });

  it('refuse a port that has a name', () => {
    const named = policy({ ingress: [{ ports: [{ port: 'http' }] }] });
    expect(() => rulesOf([named])).toThrow('NetworkPolicy media/limit names port http: give its number');
  });
});
