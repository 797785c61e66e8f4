/** Before all tests on the cluster: a receiver, the chart, an account with a key. After them the namespace goes. */
import type { TestProject } from 'vitest/node';
import { apply, kubectl, NAMESPACE } from '#test/e2e/commands.ts';
import { IMAGE_OF_SERVICE, install, mediactl } from '#test/e2e/installation.ts';
import { startNodeAgent } from '#test/e2e/node-agent.ts';
import { startReceiverPod, type ReceiverAddress } from '#test/e2e/receiver-pod.ts';

declare module 'vitest' {
  interface ProvidedContext {
    e2e: { readonly key: string; readonly receiverUrl: string; readonly receiverAuthority: string };
  }
}

/** Installs the chart and returns its removal; E2E_KEEP keeps everything, so that the next run begins at once. */
export default async function installForTests({ provide }: TestProject): Promise<() => Promise<void>> {
  const { key, receiver } = await installWithReceiver();
  const removeAgent = await startNodeAgent(IMAGE_OF_SERVICE);
  provide('e2e', { key, receiverUrl: receiver.url, receiverAuthority: receiver.authority });
  return async () => {
    if (process.env['E2E_KEEP'] === '1') return;
    await removeNamespace();
    await removeAgent();
  };
}

/** Installs the chart, a receiver of webhooks, and an account with every feature. `values` are the chart's. */
export async function installWithReceiver(values: object = {}): Promise<{ key: string; receiver: ReceiverAddress }> {
  apply({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: NAMESPACE, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
  });
  const receiver = await startReceiverPod(IMAGE_OF_SERVICE);
  await install({ extraCa: receiver.authority, ...values });
  const account = ['--name', 'e2e', '--plan', 'scale', '--payment-method', '--feature', 'video'];
  const { id } = await mediactl('account', 'create', ...account);
  const { key } = await mediactl('key', 'create', '--account', String(id), '--mode', 'live', '--name', 'e2e');
  return { key: String(key), receiver };
}

export async function removeNamespace(): Promise<void> {
  await kubectl('delete', 'namespace', NAMESPACE, '--wait=true', '--timeout=180s');
}
