/**
 * A store that never shows less than this process has written itself: the answer of each write stands for
 * the object until the watch has caught up. Without it a reader that acts on what is missing would do the
 * same thing twice.
 *
 *   written → watch shows that version or a newer one, another uid, or the deletion → the store's again
 */
import { isOlder, type KubeObject } from '#crds/kube/kube-object.ts';
import type { Reflector } from '#crds/kube/reflector.ts';

export interface OwnWrites {
  get(name: string): KubeObject | undefined;
  list(): readonly KubeObject[];
  indexed(word: string): readonly KubeObject[];
  /** What a write answered. */
  wrote(object: KubeObject): void;
  /** This object was deleted, or is about to go. */
  deleted(object: KubeObject): void;
}

interface Written {
  readonly object: KubeObject;
  readonly gone: boolean;
}

/** What was deleted long ago has come by in the watch, or in the list after it. */
const FORGET_MS = 10 * 60_000;

export function makeOwnWrites(
  deps: {
    readonly reflector: Pick<Reflector, 'store' | 'watch'>;
    readonly monotonic: () => number;
    /** A read that the watch alone would have answered with what this process knows to be over. */
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
  const note = (object: KubeObject, gone: boolean): void => {
    const seen = store.get(object.metadata.name);
    const known = !gone && seen?.metadata.uid === object.metadata.uid && !isBehind(seen, object);
    if (known || (gone && seen === undefined)) written.delete(object.metadata.name);
    else written.set(object.metadata.name, { object, gone, at: deps.monotonic() });
    for (const [name, { at }] of written) {
      if (deps.monotonic() - at < FORGET_MS) return;
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
      if (!own.gone) return own.object;
      return seen?.metadata.uid === own.object.metadata.uid ? undefined : seen;
    },
    list: () => overlaid(store.list(), live(written)),
    indexed: (word) =>
      overlaid(
        store.indexed(word),
        live(written).filter((object) => indexBy?.(object) === word),
      ),
    wrote: (object) => note(object, false),
    deleted: (object) => note(object, true),
  };
  return view;
}

function isOver({ object, gone }: Written, change: { type: 'applied' | 'deleted'; object: KubeObject }): boolean {
  if (change.object.metadata.uid === object.metadata.uid)
    return change.type === 'deleted' || (!gone && !isBehind(change.object, object));
  // The watch shows another object of that name: an older one's end, or a newer one.
  return change.type === 'applied' && !isBehind(change.object, object);
}

/** Versions that cannot be compared count as behind: the written object stands until its deletion or its time. */
function isBehind(seen: KubeObject, object: KubeObject): boolean {
  if (seen.metadata.resourceVersion === object.metadata.resourceVersion) return false;
  return isOlder(seen.metadata.resourceVersion, object.metadata.resourceVersion) ?? true;
}

function live(written: ReadonlyMap<string, Written>): readonly KubeObject[] {
  return [...written.values()].filter(({ gone }) => !gone).map(({ object }) => object);
}
