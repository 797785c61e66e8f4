import { beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { OwnWrites } from '#crds/kube/own-writes.ts';
import { makeStore, type FilledStore, type StoreChange } from '#crds/kube/store.ts';
import { mockObject } from '#test/support/mock-api-server.ts';

const colour = ({ metadata }: KubeObject): string | undefined => metadata.labels?.['colour'];

describe("a store with this process's own writes", () => {
  let store: FilledStore;
  let view: OwnWrites;
  let see: (changes: readonly StoreChange[]) => void;
  let millis: number;
  let staleReads: number;

  beforeEach(() => {
    millis = 0;
    store = makeStore(colour);
    const watchers: ((change: StoreChange) => void)[] = [];
    see = (changes) => changes.forEach((change) => watchers.forEach((watcher) => watcher(change)));
    const reflector = { store, watch: (watcher: (change: StoreChange) => void) => void watchers.push(watcher) };
    staleReads = 0;
    const onStale = (): void => void (staleReads += 1);
    const deps = { reflector, monotonic: () => millis, onStale };
    view = new OwnWrites(deps, { indexBy: colour }, new AbortController().signal);
  });

  const names = (objects: readonly KubeObject[]): string[] =>
    objects.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`).toSorted();

  it('contains a written object before the watch does', () => {
    view.wrote(mockObject('a', 5));
    expect(view.get('a')?.metadata.resourceVersion).toBe('5');
    expect(names(view.list())).toEqual(['a 5']);
    expect(names(view.indexed('blue'))).toEqual(['a 5']);
    expect(names(view.indexed('red'))).toEqual([]);
  });

  it('does not return an older version that the watch delivers late', () => {
    view.wrote(mockObject('a', 5));
    see(store.apply(mockObject('a', 3)));
    expect(view.get('a')?.metadata.resourceVersion).toBe('5');
    expect(staleReads).toBe(1);
    see(store.apply(mockObject('a', 9)));
    expect(view.get('a')?.metadata.resourceVersion).toBe('9');
    expect(staleReads).toBe(1);
  });

  it('compares versions as numbers', () => {
    view.wrote(mockObject('a', 100));
    see(store.apply(mockObject('a', 99)));
    expect(view.get('a')?.metadata.resourceVersion).toBe('100');
  });

  it('keeps a written object of an incomparable version until the watch delivers that version', () => {
    const odd = (version: string): KubeObject => ({
      ...mockObject('a', 0),
      metadata: { ...mockObject('a', 0).metadata, resourceVersion: version },
    });
    view.wrote(odd('v2'));
    see(store.apply(odd('v1')));
    expect(view.get('a')?.metadata.resourceVersion).toBe('v2');
    see(store.apply(odd('v2')));
    see(store.apply(odd('v3')));
    expect(view.get('a')?.metadata.resourceVersion).toBe('v3');
  });

  it('does not contain a deleted object, also after a late event', () => {
    see(store.apply(mockObject('a', 5)));
    view.deleted(mockObject('a', 5));
    expect(view.get('a')).toBeUndefined();
    see(store.apply(mockObject('a', 6)));
    expect(view.get('a')).toBeUndefined();
    expect(view.list()).toEqual([]);
    see(store.remove(mockObject('a', 7)));
    see(store.apply(mockObject('a', 8, { uid: 'second' })));
    expect(view.get('a')?.metadata.uid).toBe('second');
  });

  it('contains a new object of a name while the watch has the earlier one', () => {
    see(store.apply(mockObject('a', 5, { uid: 'first' })));
    view.deleted(mockObject('a', 5, { uid: 'first' }));
    view.wrote(mockObject('a', 8, { uid: 'second' }));
    expect(view.get('a')?.metadata.uid).toBe('second');
    see(store.remove(mockObject('a', 7, { uid: 'first' })));
    expect(view.get('a')?.metadata.uid).toBe('second');
  });

  it('does not contain an object whose deletion the watch has delivered before the response of its creation', () => {
    see(store.apply(mockObject('a', 5)));
    see(store.remove(mockObject('a', 6)));
    view.wrote(mockObject('a', 5));
    expect(view.get('a')).toBeUndefined();
    expect(view.list()).toEqual([]);
    view.wrote(mockObject('a', 8, { uid: 'second' }));
    expect(view.get('a')?.metadata.uid).toBe('second');
  });

  it('drops a write that the watch never delivers', () => {
    view.wrote(mockObject('a', 5));
    millis = 11 * 60_000;
    view.wrote(mockObject('b', 6));
    expect(names(view.list())).toEqual(['b 6']);
  });
});
