/**
 * Read-your-writes view of a store: the response of each write replaces the store's object until the watch has caught
 * up. Otherwise a reader that acts on missing objects would act twice.
 *
 *   written → watch delivers that version or a newer one, another uid, or the deletion → object of the store
 */
import { isOlder, type KubeObject } from '#crds/kube/kube-object.ts';
import type { Reflector } from '#crds/kube/reflector.ts';

export interface OwnWrites {
  get(name: string): KubeObject | undefined;
  list(): readonly KubeObject[];
  indexed(word: string): readonly KubeObject[];
  /** Records the response of a write. */
  wrote(object: KubeObject): void;
  /** Records that an object was deleted or is being deleted. */
  deleted(object: KubeObject): void;
}

interface Written {
  readonly object: KubeObject;
  readonly isDeleted: boolean;
}

/** Retention of own writes, in milliseconds: until then the watch or a later list has delivered them. */
const RETENTION_MS = 10 * 60_000;

/** Creates the view of a reflector's store. */
export function makeOwnWrites(
  deps: {
    readonly reflector: Pick<Reflector, 'store' | 'watch'>;
    readonly monotonic: () => number;
    /** Called for a read of an object while the watch is behind an own write. */
    readonly onStale: () => void;
  },
  { indexBy }: { indexBy?: (object: KubeObject) => string | undefined },
  signal: AbortSignal,
): OwnWrites {
  const { store } = deps.reflector;
  const written = new Map<string, Written & { readonly at: number }>();

  deps.reflector.watch(({ type, object }) => {
    const own = written.get(object.metadata.name);
    if (own !== undefined && isOver(own, { type, object })) written.delete(object.metadata.name);
  }, signal);
  const record = (object: KubeObject, isDeleted: boolean): void => {
    const seen = store.get(object.metadata.name);
    const known = !isDeleted && seen?.metadata.uid === object.metadata.uid && !isBehind(seen, object);
    if (known || (isDeleted && seen === undefined)) written.delete(object.metadata.name);
    else written.set(object.metadata.name, { object, isDeleted, at: deps.monotonic() });
    for (const [name, { at }] of written) {
      if (deps.monotonic() - at < RETENTION_MS) return;
      written.delete(name);
    }
  };
  const overlaid = (seen: readonly KubeObject[], also: readonly KubeObject[]): readonly KubeObject[] => {
    if (written.size === 0) return seen;
    const byName = new Map([...seen, ...also].map((object) => [object.metadata.name, object]));
    return [...byName.keys()].map((name) => view.get(name)).filter((object) => object !== undefined);
  };
  const view: OwnWrites = {
    get(name) {
      const own = written.get(name);
      const seen = store.get(name);
      if (own === undefined) return seen;
      deps.onStale();
      if (!own.isDeleted) return own.object;
      return seen?.metadata.uid === own.object.metadata.uid ? undefined : seen;
    },
    list: () => overlaid(store.list(), live(written)),
    indexed: (word) =>
      overlaid(
        store.indexed(word),
        live(written).filter((object) => indexBy?.(object) === word),
      ),
    wrote: (object) => record(object, false),
    deleted: (object) => record(object, true),
  };
  return view;
}

function isOver({ object, isDeleted }: Written, change: { type: 'applied' | 'deleted'; object: KubeObject }): boolean {
  if (change.object.metadata.uid === object.metadata.uid)
    return change.type === 'deleted' || (!isDeleted && !isBehind(change.object, object));
  // The watch has another object of that name: the deletion of an older one, or a newer one.
  return change.type === 'applied' && !isBehind(change.object, object);
}

/** Returns true when the store's object is older. Incomparable versions count as older until the retention ends. */
function isBehind(seen: KubeObject, object: KubeObject): boolean {
  if (seen.metadata.resourceVersion === object.metadata.resourceVersion) return false;
  return isOlder(seen.metadata.resourceVersion, object.metadata.resourceVersion) ?? true;
}

function live(written: ReadonlyMap<string, Written>): readonly KubeObject[] {
  return [...written.values()].filter(({ isDeleted }) => !isDeleted).map(({ object }) => object);
}
