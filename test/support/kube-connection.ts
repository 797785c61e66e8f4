import { randomBytes } from 'node:crypto';
import { connect } from '#crds/kube/connection.ts';
import { makeKubeClient, type KubeClient } from '#crds/kube/kube-client.ts';
import { makeRateLimit } from '#crds/kube/rate-limit.ts';
import { systemTime } from '#crds/kube/time.ts';

export interface TestConnection {
  readonly client: KubeClient;
  close(): Promise<void>;
}

/** A client without a limit that a test would notice. */
export function connectAs(kubeconfig: string): TestConnection {
  const connection = connect(kubeconfig);
  const rateLimit = makeRateLimit(systemTime, { perSecond: 1000, burst: 1000 });
  const client = makeKubeClient({ connection, rateLimit, time: systemTime, metrics: { requested: () => undefined } });
  return { client, close: () => connection.close() };
}

/** A namespace of a name that no other test has; gives the name. */
export async function makeNamespace(client: KubeClient): Promise<string> {
  const name = `test-${randomBytes(6).toString('hex')}`;
  await client.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  return name;
}
