import type { makeKubeClient } from '#crds/kube/kube-client.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { systemTime } from '#crds/kube/time.ts';
import { watchEvents } from '#crds/kube/watch-stream.ts';
import type { Log } from '#crds/process/log.ts';

/** Delay before a list follows a watch that ended, in milliseconds. */
const RELIST_MS = 200;

interface FollowDeps {
  readonly client: Pick<ReturnType<typeof makeKubeClient>, 'list' | 'watch'>;
  readonly log: Log;
}

/**
 * Returns the objects of a collection by `namespace/name` and keeps them up to date for the life of the process.
 * `onChange` is called after each change.
 */
export async function followObjects(
  { client, log }: FollowDeps,
  path: string,
  onChange: () => void,
): Promise<ReadonlyMap<string, KubeObject>> {
  const objects = new Map<string, KubeObject>();
  const never = new AbortController().signal;
  const list = async (): Promise<string> => {
    const { metadata, items } = await client.list(path, {});
    objects.clear();
    for (const item of items) objects.set(keyOf(item), item);
    return metadata.resourceVersion;
  };
  const watchFrom = async (resourceVersion: string): Promise<void> => {
    for await (const { type, object } of watchEvents(
      await client.watch(path, { watch: 'true', resourceVersion }, never),
    )) {
      if (type === 'ERROR') return;
      if (type === 'DELETED') objects.delete(keyOf(object));
      else objects.set(keyOf(object), object);
      onChange();
    }
  };
  let version = await list();
  void (async () => {
    for (;;) {
      await watchFrom(version).catch((error: unknown) => log.warn({ err: error, path }, 'watch ended'));
      await systemTime.wait(RELIST_MS, never);
      version = await list().catch(() => version);
      onChange();
    }
  })();
  return objects;
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}
