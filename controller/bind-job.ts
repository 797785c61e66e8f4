import type { KubeClient } from '#crds/kube/kube-client.ts';
import { orNull } from '#crds/kube/kube-error.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import type { RunRequest } from '#controller/runs.ts';
import { bindPatch, BOUND_ANNOTATION, type BindTerms } from '#controller/standby-manifest.ts';

interface BindDeps extends BindTerms {
  readonly client: Pick<KubeClient, 'get' | 'mergePatch'>;
}

/**
 * Binds the Job of a standby to an attempt. A Job that Kubernetes has changed since it was read, such as its status, is
 * read again once.
 * @throws Error when another controller has bound or replaced the standby; KubeError.
 */
export async function bindJob(
  { client, ...terms }: BindDeps,
  { job, path, request }: { job: KubeObject; path: string; request: RunRequest },
): Promise<KubeObject> {
  const bound = await orNull(client.mergePatch(path, bindPatch(job, request, terms)), 409);
  if (bound !== null) return bound;
  const fresh = await client.get(path);
  if (fresh.metadata.uid !== job.metadata.uid || boundTo(fresh) !== boundTo(job))
    throw new Error('another controller has bound or replaced the standby');
  return client.mergePatch(path, bindPatch(fresh, request, terms));
}

function boundTo({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.[BOUND_ANNOTATION];
}
