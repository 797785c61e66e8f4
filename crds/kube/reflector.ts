/**
 * Keeps a store in sync with an API server: lists, then watches from that version until its signal aborts.
 *
 *   list ──→ watch ──→ ended by the server: watch again from the last version seen
 *    ↑ ↑       ├─ no response, 429, 5xx, reset, silence: wait, watch again from that version
 *    │ wait    │
 *    └─┴───────┘ 410 or an ERROR event: the versions between are lost, so list again
 *
 * Independent of any domain.
 */
import { makeBackoff } from '#crds/kube/backoff.ts';
import type { KubeClient, ObjectList } from '#crds/kube/kube-client.ts';
import { isRefusal, KubeError } from '#crds/kube/kube-error.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { makeStore, type Store, type StoreChange } from '#crds/kube/store.ts';
import type { Time } from '#crds/kube/time.ts';
import { watchEvents } from '#crds/kube/watch-stream.ts';
import type { Log } from '#crds/process/log.ts';

/** Reasons of a watch's restart; label of a metric. */
export const RESTART_REASONS = ['ended', 'expired', 'refused', 'broken', 'silent'] as const;
export type RestartReason = (typeof RESTART_REASONS)[number];

export interface Reflector {
  readonly store: Store;
  /** Resolves when the store has been filled once. */
  readonly synced: Promise<void>;
  hasSynced(): boolean;
  /** Returns the time since the last event, bookmark or list of the server, in milliseconds. */
  silentMs(): number;
  /** Calls `onChange` for each object in the store and each change, until the signal aborts. */
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
  /** Path of the collection, such as /apis/batch/v1/namespaces/media/jobs. */
  readonly path: string;
  readonly labelSelector?: string;
  /** Returns the part of an object to store, to save memory when most of it is never read. */
  readonly keep?: (object: KubeObject) => KubeObject;
  /** Returns the index word of an object. */
  readonly indexBy?: (object: KubeObject) => string | undefined;
  /**
   * `cached`: from the server's cache, which is cheap and may be older than a previous read. `consistent`: at least as
   * new as the request, for readers that act on missing objects.
   */
  readonly firstList: 'cached' | 'consistent';
  /** Maximum time without a byte of a watch, in milliseconds. The server sends a bookmark about every minute. */
  readonly silenceMs?: number;
}

const SILENCE_MS = 180_000;
const PAGE = '500';
/** Duration below which a watch counts as too short, in milliseconds: the next one begins after a delay. */
const SHORT_WATCH_MS = 1000;
const WATCH_SECONDS = { least: 300, spread: 300 };

/** Starts to list and watch a collection. */
export function startReflector(deps: ReflectorDeps, options: ReflectorOptions, signal: AbortSignal): Reflector {
  const { time, log, metrics } = deps;
  const resource = options.path.slice(options.path.lastIndexOf('/') + 1);
  const store = makeStore(options.indexBy);
  const watchers = new Set<(change: StoreChange) => void>();
  const synced = Promise.withResolvers<void>();
  const backoff = makeBackoff(time);
  let isSynced = false;
  let lastByteAt = time.monotonic();

  const kept = options.keep ?? ((object: KubeObject) => object);
  const call = (watcher: (change: StoreChange) => void, change: StoreChange): void => {
    try {
      watcher(change);
    } catch (error) {
      log.error({ err: error, resource, name: change.object.metadata.name }, 'a watcher failed');
    }
  };
  const notify = (changes: readonly StoreChange[]): void => {
    for (const change of changes) for (const watcher of watchers) call(watcher, change);
  };
  const noteByte = (): void => {
    lastByteAt = time.monotonic();
  };
  const list = async (first: string): Promise<string> => {
    const { metadata, items } = await listAll(deps, options, first);
    metrics.listed(resource);
    noteByte();
    notify(store.replace(items.map(kept)));
    isSynced = true;
    synced.resolve();
    return metadata.resourceVersion;
  };
  const take = (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): void =>
    notify(type === 'DELETED' ? store.remove(object) : store.apply(kept(object)));

  /** Watches once and updates `from.version`. Throws unless the server ends the watch. */
  const watchOnce = async (from: { version: string }): Promise<void> => {
    const silence = new AbortController();
    const quiet = AbortSignal.any([signal, silence.signal]);
    let alarm = setTimeout(() => silence.abort(), options.silenceMs ?? SILENCE_MS);
    const onBytes = (): void => {
      noteByte();
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
      // After an expired version the list must be consistent: a stale cache would return the same version again.
      first = '';
    }
  };
  /** Watches repeatedly until a version has expired. */
  const watchFrom = async (from: { version: string }): Promise<void> => {
    while (!signal.aborted) {
      const began = time.monotonic();
      const { version } = from;
      const error: unknown = await watchOnce(from).then(
        () => null,
        (thrown: unknown) => thrown,
      );
      if (signal.aborted) return;
      // A watch that delivered events before it was cut is not a failure: reset the backoff.
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

  metrics.observeAge(resource, () => time.monotonic() - lastByteAt);
  void run();
  return {
    store,
    synced: synced.promise,
    hasSynced: () => isSynced,
    silentMs: () => time.monotonic() - lastByteAt,
    watch(onChange, ended) {
      if (ended.aborted) return;
      watchers.add(onChange);
      ended.addEventListener('abort', () => watchers.delete(onChange), { once: true });
      for (const object of store.list()) call(onChange, { type: 'applied', object });
    },
  };
}

/** Lists all pages. A first list from the cache always has a single page. */
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

/** Returns true when the cache of this server is behind the version that another server returned. */
function isTooNew(error: unknown): boolean {
  return isRefusal(error, 504) || (error instanceof Error && /too large resource version/i.test(error.message));
}

function retryAfter(error: unknown): number {
  return error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0;
}
