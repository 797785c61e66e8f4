import type { KubeClient } from '#crds/kube/kube-client.ts';

export interface DyingClient extends KubeClient {
  /** Resolves when the process that the client belongs to has died. */
  readonly died: Promise<void>;
  /** Writes that the API server took. */
  writes(): number;
}

/**
 * The client of a process that dies before or after its n-th write: that one and every later call never
 * answer, as it is for a process that was killed.
 */
export function makeDyingClient(
  client: KubeClient,
  death: { write: number; when: 'before' | 'after' } | null,
): DyingClient {
  const died = Promise.withResolvers<void>();
  const never = new Promise<never>(() => undefined);
  let dead = false;
  let count = 0;
  const die = (): Promise<never> => {
    dead = true;
    died.resolve();
    return never;
  };
  const write = async <T>(send: () => Promise<T>): Promise<T> => {
    if (dead) return never;
    const number = (count += 1);
    if (death?.write === number && death.when === 'before') return die();
    const answer = await send();
    if (dead) return never;
    return death?.write === number ? die() : answer;
  };
  const read = async <T>(send: () => Promise<T>): Promise<T> => {
    const answer = dead ? never : await send();
    return dead ? never : answer;
  };
  return {
    died: died.promise,
    writes: () => count,
    get: (path) => read(() => client.get(path)),
    list: (path, query) => read(() => client.list(path, query)),
    watch: (path, query, signal) => read(() => client.watch(path, query, signal)),
    create: (path, body) => write(() => client.create(path, body)),
    replace: (path, body) => write(() => client.replace(path, body)),
    mergePatch: (path, body) => write(() => client.mergePatch(path, body)),
    delete: (path, options) => write(() => client.delete(path, options)),
  };
}
