/** Preconditions of a process in a cluster: a custom resource and permissions. Each problem says how to fix it. */
import type { KubeClient } from '#crds/kube/kube-client.ts';
import { isRefusal } from '#crds/kube/kube-error.ts';

export interface Access {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly verbs: readonly string[];
}

export interface AccessNeeds {
  readonly namespace: string;
  /** API group and version that must be served, such as mediajobs.dev/v1, with the CRD's name. */
  readonly customResource: { readonly groupVersion: string; readonly plural: string; readonly crd: string };
  readonly access: readonly Access[];
  /** Namespace of Leases; default: the same. */
  readonly leases?: string;
}

/** Returns one sentence per missing precondition; empty when none is missing. */
export async function missingAccess(
  client: Pick<KubeClient, 'get' | 'create'>,
  needs: AccessNeeds,
): Promise<readonly string[]> {
  try {
    const crd = await missingResource(client, needs);
    if (crd !== null) return [crd];
    const missing = await Promise.all(
      needs.access.map((access) => missingVerbs(client, namespaceOf(needs, access), access)),
    );
    return missing.flat();
  } catch (error) {
    return [`The API server cannot be reached: ${error instanceof Error ? error.message : String(error)}`];
  }
}

async function missingResource(
  client: Pick<KubeClient, 'get'>,
  { customResource: { groupVersion, plural, crd } }: AccessNeeds,
): Promise<string | null> {
  const fix = `The CustomResourceDefinition ${crd} is missing: install the chart with crds.enabled=true, or apply crds/generated/${crd}.yaml.`;
  try {
    const { resources } = await client.get(`/apis/${groupVersion}`);
    const served = Array.isArray(resources) && resources.some((resource) => resource.name === plural);
    return served ? null : fix;
  } catch (error) {
    if (isRefusal(error, 404)) return fix;
    throw error;
  }
}

function namespaceOf({ namespace, leases = namespace }: AccessNeeds, { resource }: Access): string {
  return resource === 'leases' ? leases : namespace;
}

async function missingVerbs(
  client: Pick<KubeClient, 'create'>,
  namespace: string,
  { group, resource, subresource, verbs }: Access,
): Promise<string[]> {
  const reviews = verbs.map(async (verb) => {
    const attributes = { namespace, verb, group, resource, ...(subresource === undefined ? {} : { subresource }) };
    const review = await client.create('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: attributes },
    });
    return (review['status'] as { allowed?: boolean } | undefined)?.allowed === true ? [] : [verb];
  });
  const missing = (await Promise.all(reviews)).flat();
  if (missing.length === 0) return [];
  const name = `${subresource === undefined ? resource : `${resource}/${subresource}`}${group === '' ? '' : `.${group}`}`;
  return [
    `This service account may not ${missing.join(', ')} ${name} in namespace ${namespace}: add the verbs to its Role.`,
  ];
}
