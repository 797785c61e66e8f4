/** Before all tests on the cluster: a receiver, the chart, an account with a key. After them the namespace goes. */
import type { TestProject } from 'vitest/node';
import { apply, kubectl, NAMESPACE } from '#test/e2e/commands.ts';
import { IMAGE_OF_SERVICE, installEarlierRelease, installFirst, mediactl } from '#test/e2e/installation.ts';
import { kindNodes } from '#test/e2e/kind-nodes.ts';
import { startNodeAgents } from '#test/e2e/node-agent.ts';
import { startReceiverPod, type ReceiverAddress } from '#test/e2e/receiver-pod.ts';

declare module 'vitest' {
  interface ProvidedContext {
    e2e: { readonly key: string; readonly receiverUrl: string; readonly receiverAuthority: string };
  }
}

/** Installs the chart and returns its removal; E2E_KEEP keeps everything, to be looked at: delete the namespace before the next run. */
export default async function installForTests({ provide }: TestProject): Promise<() => Promise<void>> {
  const { key, receiver } = await installWithReceiver();
  const removeAgents = await startNodeAgents(IMAGE_OF_SERVICE);
  provide('e2e', { key, receiverUrl: receiver.url, receiverAuthority: receiver.authority });
  return async () => {
    if (process.env['E2E_KEEP'] === '1') return;
    await removeNamespace();
    await removeAgents();
  };
}

/** Installs the chart, a receiver of webhooks, and an account with every feature. `values` are the chart's. */
export async function installWithReceiver(values: object = {}): Promise<{ key: string; receiver: ReceiverAddress }> {
  apply({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: NAMESPACE, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
  });
  const uncordon = await keepOneNodeFree();
  const receiver = await startReceiverPod(IMAGE_OF_SERVICE);
  try {
    await installEarlierRelease();
    await installFirst({ trustedCa: { pem: receiver.authority }, ...values });
  } finally {
    await uncordon();
  }
  const account = ['--name', 'e2e', '--plan', 'scale', '--payment-method', '--feature', 'video'];
  const { id } = await mediactl('account', 'create', ...account);
  const { key } = await mediactl('key', 'create', '--account', String(id), '--mode', 'live', '--name', 'e2e');
  return { key: String(key), receiver };
}

/** Keeps the stores off one of several nodes, which so can be lost. Returns the end of that. */
async function keepOneNodeFree(): Promise<() => Promise<void>> {
  const nodes = await kindNodes();
  const [, last] = nodes;
  if (nodes.length < 3 || last === undefined) return () => Promise.resolve();
  await kubectl('cordon', last);
  return async () => void (await kubectl('uncordon', last));
}

export async function removeNamespace(): Promise<void> {
  await kubectl('delete', 'namespace', NAMESPACE, '--wait=true', '--timeout=180s');
}
