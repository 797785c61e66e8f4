/**
 * Pods that see the processes of their node and may signal them, one on each node: for what happens to pods and nodes
 * from outside. For a cluster whose control plane runs on one of its nodes, as that of kind.
 */
import { apply, kubectl, kubectlJson } from '#test/e2e/commands.ts';

/** Apart from the service's, where Pod Security forbids such a pod. */
const AGENT_NAMESPACE = 'mediajobs-e2e-node';
const NAME = 'agent';
const IN_AGENT = ['--namespace', AGENT_NAMESPACE];

/** Starts the agents and returns their removal. */
export async function startNodeAgents(image: string): Promise<() => Promise<void>> {
  apply({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: AGENT_NAMESPACE, labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } },
  });
  const labels = { app: NAME };
  const spec = {
    hostPID: true,
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 1,
    tolerations: [{ operator: 'Exists' }],
    securityContext: { runAsUser: 0, appArmorProfile: { type: 'Unconfined' } },
    containers: [{ name: NAME, image, imagePullPolicy: 'IfNotPresent', command: ['sleep', 'infinity'] }],
  };
  apply(
    {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: NAME, namespace: AGENT_NAMESPACE },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    },
    AGENT_NAMESPACE,
  );
  await kubectl('rollout', 'status', ...IN_AGENT, `daemonset/${NAME}`, '--timeout=180s');
  return async () => {
    await kubectl('delete', 'namespace', AGENT_NAMESPACE, '--wait=true', '--timeout=120s');
  };
}

type Signal = 'KILL' | 'STOP' | 'CONT';

/** Sends a signal to the first process of each running container of the pods that the selector names, or of one of them. */
export async function signalPods(selector: string, signal: Signal, pod?: string): Promise<void> {
  const containers = await containersOf(selector, pod);
  if (containers.length === 0) throw new Error(`no running container has ${selector}`);
  const signaled = [...containersByNode(containers)].map(([node, ids]) =>
    onNode(node, `${findProcesses(ids)}; kill -s ${signal} $found`),
  );
  await Promise.all(signaled);
}

/**
 * Stops a process of each node that runs it, such as `kube-apiserver`, and resumes it after `seconds`, even when the
 * caller has ended. `killing` selects pods of one node: only that node's process is stopped, and meanwhile their first
 * processes are killed.
 */
export async function pauseProcess(
  name: string,
  { seconds, killing }: { readonly seconds: number; readonly killing?: string },
): Promise<void> {
  const killed = killing === undefined ? null : containersByNode(await containersOf(killing));
  const nodes = killed === null ? await nodesThatRun(name) : [...killed.keys()];
  if (nodes.length === 0) throw new Error(`no node runs ${name}`);
  const paused = nodes.map((node) =>
    onNode(
      node,
      `${findProcesses(killed?.get(node) ?? [])}
       stopped=$(grep -lx '${name}' /proc/[0-9]*/comm | cut -d/ -f3)
       [ -n "$stopped" ] || exit 1
       (sleep 1; kill -s STOP $stopped; [ -z "$found" ] || kill -s KILL $found
        sleep ${seconds}; kill -s CONT $stopped) >/dev/null 2>&1 &`,
    ),
  );
  await Promise.all(paused);
}

interface HeldEncoders {
  /** Returns the number of stopped encoders on all nodes. One that still runs may end before it is stopped. */
  count(): Promise<number>;
  /** Resumes the encoders, and holds no further ones. */
  release(): Promise<void>;
}

/** Stops each encoder of the cluster soon after its start, so that many attempts run without work. */
export async function holdEncoders(): Promise<HeldEncoders> {
  const nodes = [...(await agents()).keys()];
  const onEach = (script: string): Promise<string[]> => Promise.all(nodes.map((node) => onNode(node, script)));
  // Other runs of the program, such as that for its version, report no progress.
  const find = `for encoder in $(grep -lx ffmpeg /proc/[0-9]*/comm | cut -d/ -f3); do
      ! grep -q '[-]progress' "/proc/$encoder/cmdline" || echo "$encoder"
    done`;
  const findStopped = `for encoder in $(${find}); do
      ! grep -qE '^State:[[:space:]]+T' "/proc/$encoder/status" || echo "$encoder"
    done`;
  await onEach(`touch ${HOLD}
    (while [ -e ${HOLD} ]; do kill -s STOP $(${find}); sleep 0.2; done
     kill -s CONT $(${find})) >/dev/null 2>&1 &`);
  return {
    count: async () => (await onEach(findStopped)).join('\n').split('\n').filter(Boolean).length,
    release: async () => void (await onEach(`rm -f ${HOLD}`)),
  };
}

/** File in each agent while it holds encoders. */
const HOLD = '/tmp/hold-encoders';

/** Returns whether the program runs on a node: not on clusters whose control plane is elsewhere. */
export async function runsOnNode(name: string): Promise<boolean> {
  return (await nodesThatRun(name)).length > 0;
}

/** Returns the names of nodes. */
async function nodesThatRun(name: string): Promise<string[]> {
  const nodes = [...(await agents()).keys()];
  const found = await Promise.all(nodes.map((node) => onNode(node, `grep -lx '${name}' /proc/[0-9]*/comm || true`)));
  return nodes.filter((_node, index) => found[index] !== '');
}

async function onNode(node: string, script: string): Promise<string> {
  const agent = (await agents()).get(node);
  if (agent === undefined) throw new Error(`node ${node} has no agent`);
  return kubectl('exec', ...IN_AGENT, agent, '--', 'sh', '-c', script);
}

/** Returns the name of each agent's pod by its node. */
async function agents(): Promise<Map<string, string>> {
  const { items } = await kubectlJson<Pods>('get', 'pods', ...IN_AGENT, '--selector', `app=${NAME}`);
  return new Map(items.map(({ metadata, spec }) => [spec.nodeName ?? '', metadata.name]));
}

/** Returns shell that puts process ids into `found`: those that are the first of their container. */
function findProcesses(ids: readonly string[]): string {
  if (ids.length === 0) return 'found=';
  return `found=
    for id in ${ids.join(' ')}; do
      for group in $(grep -l "$id" /proc/[0-9]*/cgroup 2>/dev/null); do
        grep -qE '^NSpid:.*[[:space:]]1$' "\${group%/cgroup}/status" 2>/dev/null && found="$found $(echo "$group" | cut -d/ -f3)"
      done
    done`;
}

interface Pods {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly spec: { readonly nodeName?: string };
    readonly status: {
      readonly containerStatuses?: readonly { readonly containerID?: string; readonly state?: { running?: object } }[];
    };
  }[];
}

interface Container {
  readonly node: string;
  readonly id: string;
}

async function containersOf(selector: string, pod?: string): Promise<Container[]> {
  const { items } = await kubectlJson<Pods>('get', 'pods', '--selector', selector);
  return items
    .filter(({ metadata }) => pod === undefined || metadata.name === pod)
    .flatMap(({ spec, status }) =>
      (status.containerStatuses ?? []).flatMap(({ containerID, state }) =>
        state?.running === undefined || containerID === undefined
          ? []
          : [{ node: spec.nodeName ?? '', id: containerID.replace(/^.*\/\//, '') }],
      ),
    );
}

function containersByNode(containers: readonly Container[]): Map<string, string[]> {
  const byNode = Map.groupBy(containers, ({ node }) => node);
  return new Map([...byNode].map(([node, found]) => [node, found.map(({ id }) => id)]));
}
