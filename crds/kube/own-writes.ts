/**
 * Read-your-writes view of a store: the response of each write replaces the store's object until the watch has caught
 * up. Otherwise a reader that acts on missing objects would act twice.
 *
 *   written → watch delivers that version or a newer one, another uid, or the deletion → object of the store
 *
 * The watch may deliver the deletion of an object before the response of its creation has arrived.
 */
import { isOlder, type KubeObject } from '#crds/kube/kube-object.ts';
import type { Reflector } from '#crds/kube/reflector.ts';

interface Written {
  readonly object: KubeObject;
  readonly isDeleted: boolean;
}

/** Retention of own writes, in milliseconds: until then the watch or a later list has delivered them. */
const RETENTION_MS = 10 * 60_000;

interface OwnWritesDeps {
  readonly reflector: Pick<Reflector, 'store' | 'watch'>;
  readonly monotonic: () => number;
  /** Called for a read of an object while the watch is behind an own write. */
  readonly onStale: () => void;
}

type IndexBy = (object: KubeObject) => string | undefined;

/** View of a reflector's store, with this process's own writes. */
export class OwnWrites {
  readonly #deps: OwnWritesDeps;
  readonly #indexBy: IndexBy | undefined;
  readonly #written = new Map<string, Written & { readonly at: number }>();
  /** Deletions that the watch has delivered, by uid. */
  readonly #deletions = new Map<string, { readonly at: number }>();

  constructor(deps: OwnWritesDeps, { indexBy }: { indexBy?: IndexBy }, signal: AbortSignal) {
    this.#deps = deps;
    this.#indexBy = indexBy;
    deps.reflector.watch(({ type, object }) => {
      const own = this.#written.get(object.metadata.name);
      if (own !== undefined && isOver(own, { type, object })) this.#written.delete(object.metadata.name);
      if (type === 'deleted') this.#forget(object.metadata.uid);
    }, signal);
  }

  get(name: string): KubeObject | undefined {
    const own = this.#written.get(name);
    const seen = this.#deps.reflector.store.get(name);
    if (own === undefined) return seen;
    this.#deps.onStale();
    if (!own.isDeleted) return own.object;
    return seen?.metadata.uid === own.object.metadata.uid ? undefined : seen;
  }

  list(): readonly KubeObject[] {
    return this.#overlaid(this.#deps.reflector.store.list(), live(this.#written));
  }

  indexed(word: string): readonly KubeObject[] {
    const own = live(this.#written).filter((object) => this.#indexBy?.(object) === word);
    return this.#overlaid(this.#deps.reflector.store.indexed(word), own);
  }

  /** Records the response of a write. */
  wrote(object: KubeObject): void {
    this.#record(object, false);
  }

  /** Records that an object was deleted or is being deleted. */
  deleted(object: KubeObject): void {
    this.#record(object, true);
  }

  #record(object: KubeObject, isDeleted: boolean): void {
    const { name, uid } = object.metadata;
    const seen = this.#deps.reflector.store.get(name);
    const known = !isDeleted && seen?.metadata.uid === uid && !isBehind(seen, object);
    if (known || this.#deletions.has(uid) || (isDeleted && seen === undefined)) this.#written.delete(name);
    else this.#written.set(name, { object, isDeleted, at: this.#deps.monotonic() });
    this.#removeOld(this.#written);
  }

  /** Records that an object no longer exists. A response about it that arrives later is outdated. */
  #forget(uid: string): void {
    this.#deletions.set(uid, { at: this.#deps.monotonic() });
    this.#removeOld(this.#deletions);
  }

  /** Removes the records whose retention is over. Older ones come first. */
  #removeOld(records: Map<string, { readonly at: number }>): void {
    for (const [earlier, { at }] of records) {
      if (this.#deps.monotonic() - at < RETENTION_MS) return;
      records.delete(earlier);
    }
  }

  #overlaid(seen: readonly KubeObject[], own: readonly KubeObject[]): readonly KubeObject[] {
    if (this.#written.size === 0) return seen;
    const names = new Set([...seen, ...own].map(({ metadata }) => metadata.name));
    return [...names].map((name) => this.get(name)).filter((object) => object !== undefined);
  }
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
