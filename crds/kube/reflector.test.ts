import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connect, type Connection } from '#crds/kube/connection.ts';
import { makeKubeClient } from '#crds/kube/kube-client.ts';
import { makeRateLimit } from '#crds/kube/rate-limit.ts';
import { startReflector, type Reflector, type ReflectorOptions } from '#crds/kube/reflector.ts';
import { systemTime } from '#crds/kube/time.ts';
import { makeLog } from '#crds/process/log.ts';
import {
  blackhole,
  line,
  listOf,
  mockObject,
  refuse,
  startMockApiServer,
  stream,
  type MockApiServer,
} from '#test/support/mock-api-server.ts';

const PATH = '/apis/mock/v1/namespaces/test/things';
const a1 = mockObject('a', 1);
const b2 = mockObject('b', 2);

describe('a reflector', () => {
  let server: MockApiServer;
  let connection: Connection;
  let ended: AbortController;
  let waits: number[];
  let restarts: string[];

  beforeEach(async () => {
    server = await startMockApiServer();
    connection = connect(server.kubeconfig);
    ended = new AbortController();
    waits = [];
    restarts = [];
  });
  afterEach(async () => {
    ended.abort();
    await connection.close();
    await server.close();
  });

  const start = (options: Partial<ReflectorOptions> = {}): { reflector: Reflector; changes: string[] } => {
    const time = {
      ...systemTime,
      random: () => 0.5,
      wait: async (ms: number) => {
        waits.push(ms);
        await new Promise((resolve) => setImmediate(resolve));
      },
    };
    const rateLimit = makeRateLimit(time, { perSecond: 1000, burst: 1000 });
    const client = makeKubeClient({ connection, rateLimit, time, metrics: { requested: () => undefined } });
    const metrics = {
      listed: () => undefined,
      watchRestarted: (_resource: string, reason: string) => void restarts.push(reason),
      observeAge: () => undefined,
    };
    const reflector = startReflector(
      { client, time, log: makeLog('test', 'silent'), metrics },
      { path: PATH, firstList: 'cached', ...options },
      ended.signal,
    );
    const changes: string[] = [];
    reflector.watch(({ type, object: { metadata } }) => {
      changes.push(`${type} ${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`);
    }, ended.signal);
    return { reflector, changes };
  };
  const lists = (): string[] => server.requests.filter((request) => request.startsWith('list'));
  const watches = (): URLSearchParams[] =>
    server.requests
      .filter((request) => request.startsWith('watch'))
      .map((request) => new URLSearchParams(request.slice('watch '.length)));
  const seenWatches = (count: number): Promise<unknown> =>
    vi.waitFor(() => expect(watches().length).toBeGreaterThanOrEqual(count), { timeout: 10_000 });
  const versions = (): (string | null)[] => watches().map((query) => query.get('resourceVersion'));

  it('lists from the cache, then watches from that version with bookmarks and a time limit', async () => {
    server.lists(listOf('7', [a1, b2]));
    const { reflector } = start();
    await seenWatches(1);
    expect(lists()).toEqual(['list limit=500&resourceVersion=0']);
    const [watch] = watches();
    expect(watch?.get('resourceVersion')).toBe('7');
    expect(watch?.get('allowWatchBookmarks')).toBe('true');
    expect(watch?.get('timeoutSeconds')).toBe('450');
    expect(reflector.store.list().map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
  });

  it('reads a list in pages and consistently when the option is set', async () => {
    server.lists(listOf('7', [a1], 'more'), listOf('7', [b2]));
    const { reflector } = start({ firstList: 'consistent' });
    await reflector.synced;
    expect(lists()).toEqual(['list limit=500', 'list limit=500&continue=more']);
    expect(reflector.store.list()).toHaveLength(2);
  });

  it.each([
    ['503', refuse(503)],
    ['500', refuse(500)],
    ['a response that is no JSON', stream(['<html>'], 'end')],
    ['a reset', stream(['{"metadata"'], 'reset')],
  ])('lists again after %s', async (_what, respond) => {
    server.lists(respond, listOf('7', [a1]));
    const { reflector } = start();
    await reflector.synced;
    expect(reflector.store.list()).toHaveLength(1);
    expect(waits).toEqual([400]);
  });

  it('lists without a version when the cache is behind the requested one', async () => {
    server.lists(refuse(504), listOf('7', [a1]));
    const { reflector } = start();
    await reflector.synced;
    expect(lists().at(-1)).toBe('list limit=500');
  });

  it.each([
    ['500', refuse(500), 'refused'],
    ['a reset in mid-stream', stream([line('ADDED', b2)], 'reset'), 'broken'],
    ['a line that is no event', stream([line('ADDED', b2), 'nonsense\n'], 'silence'), 'broken'],
  ])('watches again after %s, without a list', async (_what, respond, reason) => {
    server.lists(listOf('1', [a1]));
    server.watches(respond);
    start();
    await seenWatches(2);
    expect(lists()).toHaveLength(1);
    expect(restarts).toEqual([reason]);
    expect(versions().at(-1)).toBe(reason === 'refused' ? '1' : '2');
  });

  it('waits for the time in Retry-After', async () => {
    server.lists(listOf('1', [a1]));
    server.watches(refuse(429, { 'retry-after': '7' }), refuse(503, { 'retry-after': '3' }));
    start();
    await seenWatches(3);
    expect(waits).toEqual([7000, 3000]);
  });

  it('backs off exponentially with jitter up to half a minute', async () => {
    server.lists(listOf('1', [a1]));
    server.watches(...Array.from({ length: 8 }, () => refuse(500)));
    start();
    await seenWatches(9);
    expect(waits).toEqual([400, 800, 1600, 3200, 6400, 12_800, 15_000, 15_000]);
  });

  it('backs off when watches end at once', async () => {
    server.lists(listOf('1', [a1]));
    server.watches(stream([], 'end'), stream([], 'end'));
    start();
    await seenWatches(3);
    expect(waits).toEqual([400, 800]);
  });

  it('ignores a truncated event and applies it when it is complete', async () => {
    const text = line('MODIFIED', mockObject('a', 5));
    server.lists(listOf('1', [a1]));
    server.watches(stream([text.slice(0, 40)], 'end'), stream([text.slice(0, 20), text.slice(20)], 'silence'));
    const { changes } = start();
    await vi.waitFor(() => expect(changes.at(-1)).toBe('applied a uid-a 5'), { timeout: 10_000 });
    expect(changes).toEqual(['applied a uid-a 1', 'applied a uid-a 5']);
    expect(versions()).toEqual(['1', '1']);
  });

  it.each([
    ['a watch answers 410', refuse(410)],
    ['the server sends an ERROR event', stream([line('ERROR', { code: 410, message: 'too old' })], 'silence')],
    ['the ERROR event has another code', stream([line('ERROR', { code: 500, message: 'etcd' })], 'silence')],
  ])('lists again when %s and reports objects that were deleted meanwhile', async (_what, respond) => {
    server.lists(listOf('1', [a1]), listOf('9', [b2]));
    server.watches(respond);
    const { changes } = start();
    await seenWatches(2);
    expect(changes).toEqual(['applied a uid-a 1', 'deleted a uid-a 1', 'applied b uid-b 2']);
    expect(lists().at(-1)).toBe('list limit=500');
    expect(versions()).toEqual(['1', '9']);
  });

  it.each([
    ['froze', stream([line('ADDED', b2)], 'silence')],
    ['never answered', blackhole],
  ])('restarts a watch that %s', async (_what, respond) => {
    server.lists(listOf('1', [a1]));
    server.watches(respond);
    start({ silenceMs: 100 });
    await seenWatches(2);
    expect(restarts[0]).toBe('silent');
    expect(lists()).toHaveLength(1);
  });

  it('ignores duplicate and late events', async () => {
    server.lists(listOf('5', [mockObject('a', 5)]));
    server.watches(
      stream(
        [
          line('ADDED', mockObject('a', 5)),
          line('MODIFIED', mockObject('a', 3)),
          line('DELETED', mockObject('a', 4, { uid: 'uid-earlier' })),
          line('MODIFIED', mockObject('a', 6)),
        ],
        'silence',
      ),
    );
    const { changes } = start();
    await vi.waitFor(() => expect(changes.at(-1)).toBe('applied a uid-a 6'), { timeout: 10_000 });
    expect(changes).toEqual(['applied a uid-a 5', 'applied a uid-a 6']);
  });

  it('reports a deletion and a new object when only the uid has changed', async () => {
    server.lists(listOf('1', [a1]), listOf('9', [mockObject('a', 9, { uid: 'third' })]));
    server.watches(stream([line('ADDED', mockObject('a', 4, { uid: 'second' }))], 'reset'), refuse(410));
    const { changes } = start();
    await seenWatches(3);
    expect(changes).toEqual([
      'applied a uid-a 1',
      'deleted a uid-a 1',
      'applied a second 4',
      'deleted a second 4',
      'applied a third 9',
    ]);
  });

  it('continues from a bookmark', async () => {
    server.lists(listOf('1', [a1]));
    server.watches(stream([line('BOOKMARK', mockObject('', 40))], 'reset'));
    start();
    await seenWatches(2);
    expect(versions()).toEqual(['1', '40']);
  });

  it('reconnects when the server is available again', async () => {
    server.lists(listOf('1', [a1]));
    const { reflector } = start();
    await seenWatches(1);
    await server.down();
    await vi.waitFor(() => expect(waits.length).toBeGreaterThan(2), { timeout: 10_000 });
    server.watches(stream([line('ADDED', b2)], 'silence'));
    await server.up();
    await vi.waitFor(() => expect(reflector.store.get('b')).toBeDefined(), { timeout: 10_000 });
    expect(lists()).toHaveLength(1);
  });

  it('returns objects by their index word, also after it has changed', async () => {
    server.lists(listOf('1', [a1, b2]));
    server.watches(stream([line('MODIFIED', mockObject('a', 5, { label: 'red' }))], 'silence'));
    const { reflector, changes } = start({ indexBy: ({ metadata }) => metadata.labels?.['colour'] });
    await vi.waitFor(() => expect(changes).toHaveLength(3), { timeout: 10_000 });
    expect(reflector.store.indexed('blue').map(({ metadata }) => metadata.name)).toEqual(['b']);
    expect(reflector.store.indexed('red').map(({ metadata }) => metadata.name)).toEqual(['a']);
  });

  it('continues when a watcher throws', async () => {
    server.lists(listOf('1', [a1, b2]));
    const { reflector } = start();
    const others: string[] = [];
    reflector.watch(() => {
      throw new Error('A watcher that fails.');
    }, ended.signal);
    reflector.watch(({ object }) => others.push(object.metadata.name), ended.signal);
    await vi.waitFor(() => expect(others).toEqual(['a', 'b']), { timeout: 10_000 });
    await seenWatches(1);
    expect(waits).toEqual([]);
  });

  it('stores the result of `keep` for objects of lists and watches', async () => {
    const [large, larger] = [a1, b2].map((object) => ({ ...object, spec: { size: 1000 } }));
    server.lists(listOf('1', [large ?? a1]));
    server.watches(stream([line('ADDED', larger ?? b2)], 'silence'));
    const { reflector } = start({ keep: ({ metadata }) => ({ metadata }) });
    await vi.waitFor(() => expect(reflector.store.list()).toEqual([a1, b2]), { timeout: 10_000 });
  });

  it('stores no managed fields', async () => {
    const object = { ...a1, metadata: { ...a1.metadata, managedFields: [{ manager: 'kubectl' }] } };
    server.lists(listOf('1', [object]));
    const { reflector } = start();
    await reflector.synced;
    expect(reflector.store.get('a')?.metadata).not.toHaveProperty('managedFields');
  });
});
