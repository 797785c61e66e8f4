/** The clock of one process of the installed service, moved ahead. */
import { kubectl, kubectlJson } from '#test/e2e/commands.ts';
import { changePods, deployment, podsOf, rolledOut } from '#test/e2e/deployments.ts';

const FILE = '/tmp/clock';

interface Pods {
  readonly items: readonly { readonly metadata: { readonly name: string; readonly deletionTimestamp?: string } }[];
}

interface ClockedProcess {
  /** Sets how far the clock is ahead, in seconds. */
  readonly moveTo: (seconds: number) => Promise<void>;
  readonly restore: () => Promise<void>;
}

/** Restarts a process so that its clock can be moved. `ahead`: its initial lead, in seconds. */
export async function withClock(
  component: string,
  { ahead = 0, environment = {} }: { ahead?: number; environment?: Readonly<Record<string, string>> } = {},
): Promise<ClockedProcess> {
  const [container] = (await kubectlJson<Deployment>('get', deployment(component))).spec.template.spec.containers;
  const start = `echo ${ahead} >${FILE}; exec ${container?.command.join(' ')}`;
  const settings = Object.entries({ ...environment, MEDIAJOBS_CLOCK_FILE: FILE });
  const env = settings.map(([name, value]) => ({ name, value }));
  const restore = await changePods(component, {
    containers: [{ name: component, command: ['sh', '-c', start], env }],
  });
  await rolledOut(component);
  return {
    restore,
    async moveTo(seconds) {
      const { items } = await kubectlJson<Pods>('get', 'pods', '--selector', podsOf(component));
      for (const { metadata } of items.filter((pod) => pod.metadata.deletionTimestamp === undefined))
        await kubectl('exec', metadata.name, '--', 'sh', '-c', `echo ${seconds} >${FILE}`);
    },
  };
}

interface Deployment {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly { command: string[] }[] } } };
}
