import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import type { Access } from '#crds/kube/access-check.ts';
import { connect } from '#crds/kube/connection.ts';
import { makeKubeClient, type KubeClient } from '#crds/kube/kube-client.ts';
import { makeRateLimit } from '#crds/kube/rate-limit.ts';
import { systemTime } from '#crds/kube/time.ts';
import type { TestUser } from '#test/support/control-plane.ts';

export interface TestConnection {
  readonly client: KubeClient;
  close(): Promise<void>;
}

/** Returns a client without a noticeable rate limit. */
export function connectAs(kubeconfig: string): TestConnection {
  const connection = connect(kubeconfig);
  const rateLimit = makeRateLimit(systemTime, { perSecond: 1000, burst: 1000 });
  const client = makeKubeClient({ connection, rateLimit, time: systemTime, metrics: { requested: () => undefined } });
  return { client, close: () => connection.close() };
}

/** Creates a namespace with a unique name and returns the name. */
export async function makeNamespace(client: KubeClient): Promise<string> {
  const name = `test-${randomBytes(6).toString('hex')}`;
  await client.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  return name;
}

/** Writes a kubeconfig for a user and a namespace, and for another server when given; returns its path. */
export async function writeKubeconfig(
  admin: string,
  { user, namespace, server }: { user: TestUser | 'admin'; namespace: string; server?: string },
): Promise<string> {
  const config = JSON.parse(await readFile(admin, 'utf8')) as Kubeconfig;
  const [cluster] = config.clusters;
  const changed = {
    ...config,
    clusters: [{ ...cluster, cluster: { ...cluster?.cluster, ...(server === undefined ? {} : { server }) } }],
    users: [{ name: 'admin', user: { token: `${user}-token` } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin', namespace } }],
  };
  const path = `${admin}-${user}-${namespace}${server === undefined ? '' : '-proxied'}`;
  await writeFile(path, JSON.stringify(changed));
  return path;
}

interface Kubeconfig {
  readonly clusters: readonly { readonly name: string; readonly cluster: object }[];
}

/** Grants a user these rights in a namespace, as the chart's Role does. */
export async function grant(
  client: KubeClient,
  { user, namespace, access }: { user: TestUser; namespace: string; access: readonly Access[] },
): Promise<void> {
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const rules = access.map(({ group, resource, subresource, verbs }) => ({
    apiGroups: [group],
    resources: [subresource === undefined ? resource : `${resource}/${subresource}`],
    verbs,
  }));
  await client.create(`${rbac}/roles`, { apiVersion, kind: 'Role', metadata: { name: user }, rules });
  await client.create(`${rbac}/rolebindings`, {
    apiVersion,
    kind: 'RoleBinding',
    metadata: { name: user },
    subjects: [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }],
    roleRef: { kind: 'Role', name: user, apiGroup: 'rbac.authorization.k8s.io' },
  });
}
