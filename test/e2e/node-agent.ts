/**
 * A pod that sees the processes of its node and may signal them: for what happens to pods and nodes from outside.
 * For a cluster whose control plane runs on the same node, as that of kind and our own.
 */
import { apply, kubectl, kubectlJson } from '#test/e2e/commands.ts';

/** Apart from the service's, where Pod Security forbids such a pod. */
const AGENT_NAMESPACE = 'mediajobs-e2e-node';
const NAME = 'agent';
const IN_AGENT = ['--namespace', AGENT_NAMESPACE];

/** Starts the agent and returns its removal. */
export async function startNodeAgent(image: string): Promise<() => Promise<void>> {
  apply({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: AGENT_NAMESPACE, labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } },
  });
  apply(
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: NAME, namespace: AGENT_NAMESPACE },
      spec: {
        hostPID: true,
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 1,
        tolerations: [{ operator: 'Exists' }],
        securityContext: { runAsUser: 0, appArmorProfile: { type: 'Unconfined' } },
        containers: [{ name: NAME, image, imagePullPolicy: 'IfNotPresent', command: ['sleep', 'infinity'] }],
      },
    },
    AGENT_NAMESPACE,
  );
  await kubectl('wait', ...IN_AGENT, '--for=condition=Ready', `pod/${NAME}`, '--timeout=180s');
  return async () => {
    await kubectl('delete', 'namespace', AGENT_NAMESPACE, '--wait=true', '--timeout=120s');
  };
}

type Signal = 'KILL' | 'STOP' | 'CONT';

/** Sends a signal to the first process of each running container of the pods that the selector names, or of one of them. */
export async function signalPods(selector: string, signal: Signal, pod?: string): Promise<void> {
  await inAgent(`${await findProcesses(selector, pod)}; kill -s ${signal} $found`);
}

/**
 * Stops a process of the node, such as `kubelet`, and resumes it after `seconds`, even when the caller has ended.
 * `killing` selects pods whose first processes are killed while it is stopped.
 */
export async function pauseProcess(
  name: string,
  { seconds, killing }: { readonly seconds: number; readonly killing?: string },
): Promise<void> {
  const find = killing === undefined ? 'found=' : await findProcesses(killing);
  await inAgent(
    `${find}
     stopped=$(grep -lx '${name}' /proc/[0-9]*/comm | cut -d/ -f3)
     [ -n "$stopped" ] || exit 1
     (sleep 1; kill -s STOP $stopped; [ -z "$found" ] || kill -s KILL $found
      sleep ${seconds}; kill -s CONT $stopped) >/dev/null 2>&1 &`,
  );
}

/** Returns whether the program runs on the node: not on clusters whose control plane is elsewhere. */
export async function runsOnNode(name: string): Promise<boolean> {
  return (await inAgent(`grep -lx '${name}' /proc/[0-9]*/comm || true`)) !== '';
}

function inAgent(script: string): Promise<string> {
  return kubectl('exec', ...IN_AGENT, NAME, '--', 'sh', '-c', script);
}

/** Shell that puts process ids into `found`: those that are the first of their container. */
async function findProcesses(selector: string, pod?: string): Promise<string> {
  const ids = await containersOf(selector, pod);
  if (ids.length === 0) throw new Error(`no running container has ${selector}`);
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
    readonly status: {
      readonly containerStatuses?: readonly { readonly containerID?: string; readonly state?: { running?: object } }[];
    };
  }[];
}

async function containersOf(selector: string, pod?: string): Promise<string[]> {
  const { items } = await kubectlJson<Pods>('get', 'pods', '--selector', selector);
  return items
    .filter(({ metadata }) => pod === undefined || metadata.name === pod)
    .flatMap(({ status }) => status.containerStatuses ?? [])
    .flatMap(({ containerID, state }) => (state?.running === undefined ? [] : [containerID ?? '']))
    .map((id) => id.replace(/^.*\/\//, ''))
    .filter((id) => id !== '');
}
