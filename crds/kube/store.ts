import { isOlder, type KubeObject } from '#crds/kube/kube-object.ts';

export type StoreChange =
  | { readonly type: 'applied'; readonly object: KubeObject }
  | { readonly type: 'deleted'; readonly object: KubeObject };

export interface Store {
  get(name: string): KubeObject | undefined;
  list(): readonly KubeObject[];
  /** Objects for which the index function gave this word. */
  indexed(word: string): readonly KubeObject[];
}

export interface FilledStore extends Store {
  /** Takes what a list showed; gives the changes against what was known. */
  replace(objects: readonly KubeObject[]): StoreChange[];
  /** Takes an event's object; none when it is no news. */
  apply(object: KubeObject): StoreChange[];
  remove(object: KubeObject): StoreChange[];
}

/**
 * Objects of one namespace by name, as last seen. A name that has another uid than before was deleted and
 * made again: both changes are told. Older versions and deletions of earlier objects are no news.
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
    if (known !== undefined && isSame(known, object) && !isNews(known, object)) return [];
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
      const gone = [...objects.values()].filter(({ metadata }) => !names.has(metadata.name));
      return [...gone.flatMap(remove), ...listed.flatMap(apply)];
    },
  };
}

function isSame(known: KubeObject, object: KubeObject): boolean {
  return known.metadata.uid === object.metadata.uid;
}

function isNews({ metadata: known }: KubeObject, { metadata }: KubeObject): boolean {
  if (known.resourceVersion === metadata.resourceVersion) return false;
  return isOlder(metadata.resourceVersion, known.resourceVersion) !== true;
}

/** They are half of an object's size and nobody here reads them. */
function withoutManagedFields(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata as KubeObject['metadata'] & { managedFields?: unknown };
  return { ...object, metadata };
}
