/**
 * Keeps a store as the API server has it: lists, then watches from there, for ever.
 *
 *   list ──→ watch ──→ ended by the server: watch again from the last version seen
 *    ↑ ↑       ├─ no answer, 429, 5xx, reset, silence: wait, watch again from there
 *    │ wait    │
 *    └─┴───────┘ 410 or an ERROR event: the versions between are lost, so list again
 *
 * Free of any domain. Nothing ends it but its signal.
 */
import { makeBackoff } from '#crds/kube/backoff.ts';
import type { KubeClient, ObjectList } from '#crds/kube/kube-client.ts';
import { isRefusal, KubeError } from '#crds/kube/kube-error.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { makeStore, type Store, type StoreChange } from '#crds/kube/store.ts';
import type { Time } from '#crds/kube/time.ts';
import { watchEvents } from '#crds/kube/watch-stream.ts';
import type { Log } from '#crds/shared/log.ts';

/** Why a watch began again. A closed set: it is a metric's label. */
export const RESTART_REASONS = ['ended', 'expired', 'refused', 'broken', 'silent'] as const;
export type RestartReason = (typeof RESTART_REASONS)[number];

export interface Reflector {
  readonly store: Store;
  /** Resolves when the store has been filled once. */
  readonly synced: Promise<void>;
  hasSynced(): boolean;
  /** Since the server last said anything: an event, a bookmark or a list. */
  silentMs(): number;
  /** Calls back for what is there and for each change, until the signal aborts. */
  watch(onChange: (change: StoreChange) => void, signal: AbortSignal): void;
}

export interface ReflectorDeps {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly time: Time;
  readonly log: Log;
  readonly metrics: ReflectorMetrics;
}

export interface ReflectorMetrics {
  listed(resource: string): void;
  watchRestarted(resource: string, reason: RestartReason): void;
  observeAge(resource: string, ageMs: () => number): void;
}

export interface ReflectorOptions {
  /** Collection, such as /apis/batch/v1/namespaces/media/jobs. */
  readonly path: string;
  readonly labelSelector?: string;
  /** What of an object is kept, where most of it is never read: a store holds thousands. */
  readonly keep?: (object: KubeObject) => KubeObject;
  /** Word by which the store also finds an object. */
  readonly indexBy?: (object: KubeObject) => string | undefined;
  /**
   * `cached`: whatever the server has at hand, which may be older than what this process has seen before it
   * started; cheap. `consistent`: at least as new as the request; for who acts on what it misses.
   */
  readonly firstList: 'cached' | 'consistent';
  /** A watch without a byte for so long is dead; the server sends a bookmark about every minute. */
  readonly silenceMs?: number;
}

const SILENCE_MS = 180_000;
const PAGE = '500';
/** A server that ends watches faster than this is not to be asked again at once. */
const SHORT_WATCH_MS = 1000;
const WATCH_SECONDS = { least: 300, spread: 300 };

export function startReflector(deps: ReflectorDeps, options: ReflectorOptions, signal: AbortSignal): Reflector {
  const { time, log, metrics } = deps;
  const resource = options.path.slice(options.path.lastIndexOf('/') + 1);
  const store = makeStore(options.indexBy);
  const watchers = new Set<(change: StoreChange) => void>();
  const synced = Promise.withResolvers<void>();
  const backoff = makeBackoff(time);
  let isSynced = false;
  let heardAt = time.monotonic();

  const kept = options.keep ?? ((object: KubeObject) => object);
  const call = (watcher: (change: StoreChange) => void, change: StoreChange): void => {
    try {
      watcher(change);
    } catch (error) {
      log.error({ err: error, resource, name: change.object.metadata.name }, 'a watcher failed');
    }
  };
  const tell = (changes: readonly StoreChange[]): void => {
    for (const change of changes) for (const watcher of watchers) call(watcher, change);
  };
  const heard = (): void => {
    heardAt = time.monotonic();
  };
  const list = async (first: string): Promise<string> => {
    const { metadata, items } = await listAll(deps, options, first);
    metrics.listed(resource);
    heard();
    tell(store.replace(items.map(kept)));
    isSynced = true;
    synced.resolve();
    return metadata.resourceVersion;
  };
  const take = (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): void =>
    tell(type === 'DELETED' ? store.remove(object) : store.apply(kept(object)));

  /** Watches once; gives the version to go on from. Throws when the watch did not end by itself. */
  const watchOnce = async (from: { version: string }): Promise<void> => {
    const silence = new AbortController();
    const quiet = AbortSignal.any([signal, silence.signal]);
    let alarm = setTimeout(() => silence.abort(), options.silenceMs ?? SILENCE_MS);
    const onBytes = (): void => {
      heard();
      clearTimeout(alarm);
      alarm = setTimeout(() => silence.abort(), options.silenceMs ?? SILENCE_MS);
    };
    try {
      const chunks = await deps.client.watch(options.path, watchQuery(deps, options, from.version), quiet);
      for await (const event of watchEvents(noting(chunks, onBytes))) {
        if (event.type === 'ERROR') throw expired(event.object);
        if (event.type !== 'BOOKMARK') take(event.type, event.object);
        from.version = event.object.metadata.resourceVersion;
      }
    } catch (error) {
      if (silence.signal.aborted) throw new KubeError('watch: no byte for too long', { status: 0, reason: 'Silent' });
      throw error;
    } finally {
      clearTimeout(alarm);
    }
  };

  const pause = (error: unknown): Promise<void> => time.wait(Math.max(backoff.next(), retryAfter(error)), signal);

  const run = async (): Promise<void> => {
    let first = options.firstList === 'cached' ? '0' : '';
    while (!signal.aborted) {
      const from = { version: '' };
      try {
        from.version = await list(first);
      } catch (error) {
        if (isTooNew(error)) first = '';
        log.warn({ err: error, resource }, 'list failed');
        await pause(error);
        continue;
      }
      await watchFrom(from);
      // What expired once is asked for anew: a cache that is behind would give it again.
      first = '';
    }
  };
  /** Until the versions in between are lost. */
  const watchFrom = async (from: { version: string }): Promise<void> => {
    while (!signal.aborted) {
      const began = time.monotonic();
      const { version } = from;
      const error: unknown = await watchOnce(from).then(
        () => null,
        (thrown: unknown) => thrown,
      );
      if (signal.aborted) return;
      // A watch that brought something and was cut is no server in trouble.
      if (from.version !== version) backoff.reset();
      const reason = reasonOf(error);
      metrics.watchRestarted(resource, reason);
      if (error === null && time.monotonic() - began > SHORT_WATCH_MS) continue;
      if (error === null) {
        await pause(error);
        continue;
      }
      log.warn({ err: error, resource, reason }, 'watch restarts');
      await pause(error);
      if (reason === 'expired') return;
    }
  };

  metrics.observeAge(resource, () => time.monotonic() - heardAt);
  void run();
  return {
    store,
    synced: synced.promise,
    hasSynced: () => isSynced,
    silentMs: () => time.monotonic() - heardAt,
    watch(onChange, ended) {
      if (ended.aborted) return;
      watchers.add(onChange);
      ended.addEventListener('abort', () => watchers.delete(onChange), { once: true });
      for (const object of store.list()) call(onChange, { type: 'applied', object });
    },
  };
}

/** All pages. A first list from the cache has one page only, whatever its limit. */
async function listAll({ client }: ReflectorDeps, options: ReflectorOptions, version: string): Promise<ObjectList> {
  const { labelSelector } = options;
  const items: KubeObject[] = [];
  const first = version === '' ? {} : { resourceVersion: version };
  let next: string | undefined;
  for (;;) {
    const query = { labelSelector, limit: PAGE, ...(next === undefined ? first : { continue: next }) };
    const page = await client.list(options.path, query);
    items.push(...page.items);
    next = page.metadata.continue;
    if (next === undefined || next === '') return { metadata: page.metadata, items };
  }
}

function watchQuery({ time }: ReflectorDeps, { labelSelector }: ReflectorOptions, resourceVersion: string) {
  return {
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion,
    labelSelector,
    timeoutSeconds: String(WATCH_SECONDS.least + Math.floor(time.random() * WATCH_SECONDS.spread)),
  };
}

async function* noting(chunks: AsyncIterable<Buffer>, onBytes: () => void): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    onBytes();
    yield chunk;
  }
}

function expired({ code, message }: { code?: number; message?: string }): KubeError {
  return new KubeError(`watch: ${message ?? 'the server sent an error'}`, { status: code ?? 410, reason: 'Expired' });
}

function reasonOf(error: unknown): RestartReason {
  if (error === null) return 'ended';
  if (!(error instanceof KubeError)) return 'broken';
  if (error.reason === 'Expired' || error.reason === 'Gone' || error.status === 410) return 'expired';
  if (error.reason === 'Silent') return 'silent';
  return error.status === 0 ? 'broken' : 'refused';
}

/** The cache of the server that answered is behind the version that another one had given. */
function isTooNew(error: unknown): boolean {
  return isRefusal(error, 504) || (error instanceof Error && /too large resource version/i.test(error.message));
}

function retryAfter(error: unknown): number {
  return error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0;
}
