import { isOlder, type KubeObject } from '#crds/kube/kube-object.ts';

export type StoreChange =
  | { readonly type: 'applied'; readonly object: KubeObject }
  | { readonly type: 'deleted'; readonly object: KubeObject };

export interface Store {
  get(name: string): KubeObject | undefined;
  list(): readonly KubeObject[];
  indexed(word: string): readonly KubeObject[];
}

export interface FilledStore extends Store {
  /** Replaces all objects by those of a list. Returns the changes. */
  replace(objects: readonly KubeObject[]): StoreChange[];
  /** Applies the object of an event. Returns the changes; none for a known version. */
  apply(object: KubeObject): StoreChange[];
  remove(object: KubeObject): StoreChange[];
}

/**
 * Creates a store of the objects of one namespace by name. An object with another uid than before was deleted and
 * created again: both changes are returned. Older versions and deletions of earlier objects are ignored.
 */
export function makeStore(indexBy: (object: KubeObject) => string | undefined = () => undefined): FilledStore {
  const objects = new Map<string, KubeObject>();
  const index = new Map<string, Map<string, KubeObject>>();

  const drop = (object: KubeObject): void => {
    objects.delete(object.metadata.name);
    const word = indexBy(object);
    if (word === undefined) return;
    const found = index.get(word);
    found?.delete(object.metadata.name);
    if (found?.size === 0) index.delete(word);
  };
  const put = (object: KubeObject): void => {
    objects.set(object.metadata.name, object);
    const word = indexBy(object);
    if (word === undefined) return;
    const found = index.get(word) ?? new Map<string, KubeObject>();
    index.set(word, found.set(object.metadata.name, object));
  };
  const apply = (raw: KubeObject): StoreChange[] => {
    const object = withoutManagedFields(raw);
    const known = objects.get(object.metadata.name);
    if (known !== undefined && isSame(known, object) && !isNewer(known, object)) return [];
    if (known !== undefined) drop(known);
    put(object);
    const applied: StoreChange = { type: 'applied', object };
    return known === undefined || isSame(known, object) ? [applied] : [{ type: 'deleted', object: known }, applied];
  };
  const remove = ({ metadata }: KubeObject): StoreChange[] => {
    const known = objects.get(metadata.name);
    if (known === undefined || known.metadata.uid !== metadata.uid) return [];
    drop(known);
    return [{ type: 'deleted', object: known }];
  };

  return {
    get: (name) => objects.get(name),
    list: () => [...objects.values()],
    indexed: (word) => [...(index.get(word)?.values() ?? [])],
    apply,
    remove,
    replace(listed) {
      const names = new Set(listed.map(({ metadata }) => metadata.name));
      const missing = [...objects.values()].filter(({ metadata }) => !names.has(metadata.name));
      return [...missing.flatMap(remove), ...listed.flatMap(apply)];
    },
  };
}

function isSame(known: KubeObject, object: KubeObject): boolean {
  return known.metadata.uid === object.metadata.uid;
}

function isNewer({ metadata: known }: KubeObject, { metadata }: KubeObject): boolean {
  if (known.resourceVersion === metadata.resourceVersion) return false;
  return isOlder(metadata.resourceVersion, known.resourceVersion) !== true;
}

/** Returns the object without managed fields, which are half of its size and never read. */
function withoutManagedFields(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata as KubeObject['metadata'] & { managedFields?: unknown };
  return { ...object, metadata };
}
