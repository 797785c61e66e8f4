/**
 * Enforces NetworkPolicies on the one-node cluster, whose CNI plugins do not support them: watches policies, pods and
 * namespaces, and updates iptables rules from them. `hack/cluster/up` starts it; it ends with a signal.
 *   node hack/cluster/enforce-policies.ts --kubeconfig FILE --links FOLDER
 * `hack/cluster/pod-link` writes a file into the folder for each pod that gets a link, named by its sandbox: address,
 * namespace, name. When the rules hold for that pod, `<file>.enforced` appears beside it, and only then the pod starts.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { connect } from '#crds/kube/connection.ts';
import { makeKubeClient } from '#crds/kube/kube-client.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { makeRateLimit } from '#crds/kube/rate-limit.ts';
import { systemTime } from '#crds/kube/time.ts';
import { watchEvents } from '#crds/kube/watch-stream.ts';
import { makeLog } from '#crds/process/log.ts';
import { policyRules, POLICY_CHAIN, type AddressedPod, type Policy } from './kind/node-network/policy-rules.ts';

const ENFORCED = '.enforced';
const { values } = parseArgs({ options: { kubeconfig: { type: 'string' }, links: { type: 'string' } } });
const { kubeconfig, links: folder } = values;
if (kubeconfig === undefined || folder === undefined)
  throw new Error('--kubeconfig FILE and --links FOLDER are required');

const log = makeLog('enforce-policies', 'info');
const client = makeKubeClient({
  connection: connect(kubeconfig),
  rateLimit: makeRateLimit(systemTime, { perSecond: 100, burst: 100 }),
  time: systemTime,
  metrics: { requested: () => undefined },
});
const never = new AbortController().signal;
/** Rules that the kernel has now. */
let held = new Map<string, string[]>();
let isDue = false;

mkdirSync(folder, { recursive: true });
const policies = await follow('/apis/networking.k8s.io/v1/networkpolicies');
const pods = await follow('/api/v1/pods');
const namespaces = await follow('/api/v1/namespaces');
watch(folder, renewSoon);
renew();
for (const hook of ['FORWARD', 'INPUT']) execFileSync('iptables', ['-t', 'mangle', '-I', hook, '-j', POLICY_CHAIN]);
log.info('policies hold');

/** Returns the objects of all namespaces by `namespace/name`, and keeps them up to date. */
async function follow(path: string): Promise<ReadonlyMap<string, KubeObject>> {
  const objects = new Map<string, KubeObject>();
  const nameOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;
  const list = async (): Promise<string> => {
    const { metadata, items } = await client.list(path, {});
    objects.clear();
    for (const item of items) objects.set(nameOf(item), item);
    return metadata.resourceVersion;
  };
  const watchFrom = async (resourceVersion: string): Promise<void> => {
    for await (const { type, object } of watchEvents(
      await client.watch(path, { watch: 'true', resourceVersion }, never),
    )) {
      if (type === 'ERROR') return;
      if (type === 'DELETED') objects.delete(nameOf(object));
      else objects.set(nameOf(object), object);
      renewSoon();
    }
  };
  let version = await list();
  void (async () => {
    for (;;) {
      await watchFrom(version).catch((error: unknown) => log.warn({ err: error, path }, 'watch ended'));
      await systemTime.wait(200, never);
      version = await list().catch(() => version);
      renewSoon();
    }
  })();
  return objects;
}

/** Once for everything that has come together. */
function renewSoon(): void {
  if (isDue) return;
  isDue = true;
  setImmediate(() => {
    isDue = false;
    try {
      renew();
    } catch (error) {
      log.error({ err: error }, 'the rules could not be renewed');
    }
  });
}

function renew(): void {
  const addressed = addressedPods(folder ?? '');
  const labels = [...namespaces.values()].map(({ metadata }) => [metadata.name, metadata.labels ?? {}] as const);
  const rules = policyRules({
    policies: [...policies.values()] as unknown as Policy[],
    localPods: addressed,
    otherPods: [],
    namespaces: new Map(labels),
  });
  if (JSON.stringify([...rules]) !== JSON.stringify([...held])) replaceRules(rules);
  for (const { link, isEnforced } of addressed) if (!isEnforced) writeFileSync(link + ENFORCED, '');
}

interface LinkedPod extends AddressedPod {
  readonly link: string;
  readonly isEnforced: boolean;
}

/** Returns the pods with an address; one that the watch has not shown yet follows with its event. */
function addressedPods(folder: string): LinkedPod[] {
  const files = new Set(readdirSync(folder));
  const written = [...files].filter((file) => !file.includes('.'));
  return written.flatMap((file) => {
    const link = join(folder, file);
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
