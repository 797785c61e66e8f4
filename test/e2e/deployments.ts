/** The service's processes as Deployments: found, changed for a test, brought back. */
import { kubectl, kubectlJson } from '#test/e2e/commands.ts';
import { RELEASE } from '#test/e2e/installation.ts';

export const PROCESSES = ['api', 'controller', 'courier', 'recorder'] as const;
export type Process = (typeof PROCESSES)[number];

/** Selects the pods of one process. */
export const podsOf = (component: string): string =>
  `app.kubernetes.io/instance=${RELEASE},app.kubernetes.io/component=${component}`;

export const deployment = (component: string): string => `deployment/${RELEASE}-${component}`;

/** Every pod is replaced and ready. */
export async function rolledOut(component: string): Promise<void> {
  await kubectl('rollout', 'status', deployment(component), '--timeout=180s');
}

/** Replaces pods whose containers have ended before: the kubelet waits longer and longer before it starts them again. */
export async function freshPods(component: string): Promise<void> {
  const counts = 'jsonpath={.items[*].status.containerStatuses[0].restartCount}';
  const restarts = await kubectl('get', 'pods', '--selector', podsOf(component), '--output', counts);
  if (restarts.split(' ').every((count) => count === '0')) return;
  await kubectl('rollout', 'restart', deployment(component));
  await rolledOut(component);
}

/** Changes the pods of a Deployment by a strategic merge patch of their `spec`. Returns a function that reverts it. */
export async function changePods(component: string, spec: object): Promise<() => Promise<void>> {
  const patch = JSON.stringify({ spec: { template: { spec } } });
  await kubectl('patch', deployment(component), '--patch', patch);
  return async () => {
    await kubectl('rollout', 'undo', deployment(component));
    await rolledOut(component);
  };
}

/** Returns the pod that holds the Lease of a component with several replicas. */
export async function leaderOf(component: 'controller' | 'recorder'): Promise<string> {
  const lease = await kubectlJson<{ spec: { holderIdentity?: string } }>('get', 'lease', `${RELEASE}-${component}`);
  return (lease.spec.holderIdentity ?? '').split('_')[0] ?? '';
}

interface Pods {
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

/** Returns the metrics of all controllers. */
export async function controllerMetrics(): Promise<string> {
  const { items } = await kubectlJson<Pods>('get', 'pods', '--selector', podsOf('controller'));
  const ask = "fetch('http://127.0.0.1:9090/metrics').then(async (answer) => console.log(await answer.text()))";
  const texts = items.map(({ metadata }) => kubectl('exec', metadata.name, '--', 'node', '-e', ask).catch(() => ''));
  return (await Promise.all(texts)).join('\n');
}

interface WorkerPod {
  readonly kinds?: Readonly<Record<string, object>>;
}

/** Returns the settings of the pods of jobs, which the controller has in MEDIAJOBS_WORKER_POD. */
export async function workerPod(): Promise<WorkerPod> {
  const stored = await kubectlJson<{
    spec: { template: { spec: { containers: { env: { name: string; value?: string }[] }[] } } };
  }>('get', deployment('controller'));
  const env = stored.spec.template.spec.containers[0]?.env ?? [];
  return JSON.parse(env.find(({ name }) => name === 'MEDIAJOBS_WORKER_POD')?.value ?? '{}') as WorkerPod;
}
