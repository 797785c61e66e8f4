import { describe, expect, it } from 'vitest';
import { Watchers } from '#crds/process/watchers.ts';

describe('watchers', () => {
  it('are called in order, each until its signal aborts', () => {
    const watchers = new Watchers<string>();
    const [first, second] = [new AbortController(), new AbortController()];
    const seen: string[] = [];
    watchers.add((event) => seen.push(`first ${event}`), first.signal);
    watchers.add((event) => seen.push(`second ${event}`), second.signal);
    watchers.notify('a');
    first.abort();
    watchers.notify('b');
    second.abort();
    watchers.notify('c');
    expect(seen).toEqual(['first a', 'second a', 'second b']);
  });

  it('are not added with a signal that has aborted', () => {
    const watchers = new Watchers<string>();
    const seen: string[] = [];
    watchers.add((event) => seen.push(event), AbortSignal.abort());
    watchers.notify('a');
    expect(seen).toEqual([]);
  });
});
