import { beforeEach, describe, expect, it } from 'vitest';
import { makeStore, type FilledStore, type StoreChange } from '#crds/kube/store.ts';
import { mockObject } from '#test/support/mock-api-server.ts';

const texts = (changes: readonly StoreChange[]): string[] =>
  changes.map(({ type, object: { metadata } }) => `${type} ${metadata.uid} ${metadata.resourceVersion}`);

describe('a store', () => {
  let store: FilledStore;

  beforeEach(() => {
    store = makeStore(({ metadata }) => metadata.labels?.['colour']);
    store.apply(mockObject('a', 5));
  });
  const names = (word: string): string[] => store.indexed(word).map(({ metadata }) => metadata.name);

  it('applies a newer version and ignores known and older ones', () => {
    expect(texts(store.apply(mockObject('a', 5)))).toEqual([]);
    expect(texts(store.apply(mockObject('a', 4)))).toEqual([]);
    expect(texts(store.apply(mockObject('a', 10)))).toEqual(['applied uid-a 10']);
    expect(store.get('a')?.metadata.resourceVersion).toBe('10');
  });

  it('returns the deletion of an object whose name has another uid', () => {
    const changes = store.apply(mockObject('a', 7, { uid: 'new' }));
    expect(texts(changes)).toEqual(['deleted uid-a 5', 'applied new 7']);
  });

  it('removes an object of the same uid only', () => {
    expect(texts(store.remove(mockObject('a', 9, { uid: 'old' })))).toEqual([]);
    expect(texts(store.remove(mockObject('a', 9)))).toEqual(['deleted uid-a 5']);
    expect(texts(store.remove(mockObject('a', 9)))).toEqual([]);
    expect(store.list()).toEqual([]);
  });

  it('replaces all objects and returns the differences', () => {
    store.apply(mockObject('b', 6));
    const changes = store.replace([mockObject('b', 6), mockObject('c', 7)]);
    expect(texts(changes)).toEqual(['deleted uid-a 5', 'applied uid-c 7']);
  });

  it('updates the index with its objects', () => {
    expect(names('blue')).toEqual(['a']);
    store.apply(mockObject('a', 6, { label: 'red' }));
    expect([names('blue'), names('red')]).toEqual([[], ['a']]);
    store.remove(mockObject('a', 7));
    expect(names('red')).toEqual([]);
  });
});
