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
import { makeBackoff, type Backoff } from '#crds/kube/backoff.ts';
import type { KubeClient, ObjectList } from '#crds/kube/kube-client.ts';
import { KubeError } from '#crds/kube/kube-error.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { makeStore, type FilledStore, type Store, type StoreChange } from '#crds/kube/store.ts';
import type { Time } from '#crds/kube/time.ts';
import { expired, isTooNew, restartReason, retryAfterMs, type RestartReason } from '#crds/kube/watch-errors.ts';
import { watchEvents } from '#crds/kube/watch-stream.ts';
import type { Log } from '#crds/process/log.ts';
import { Watchers } from '#crds/process/watchers.ts';

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

/** Starts to list and watch a collection, until the signal aborts. */
export function startReflector(deps: ReflectorDeps, options: ReflectorOptions, signal: AbortSignal): Reflector {
  const reflector = new Reflector(deps, options, signal);
  void reflector.run();
  return reflector;
}

/** Store of a collection with its watchers. */
export class Reflector {
  /** Resolves when the store has been filled once. */
  readonly synced: Promise<void>;
  readonly #deps: ReflectorDeps;
  readonly #options: ReflectorOptions;
  readonly #signal: AbortSignal;
  /** Last word of the path, for log and metrics. */
  readonly #resource: string;
  readonly #store: FilledStore;
  readonly #watchers = new Watchers<StoreChange>();
  readonly #backoff: Backoff;
  readonly #filled = Promise.withResolvers<void>();
  #isSynced = false;
  #lastByteAt: number;

  constructor(deps: ReflectorDeps, options: ReflectorOptions, signal: AbortSignal) {
    this.#deps = deps;
    this.#options = options;
    this.#signal = signal;
    this.#resource = options.path.slice(options.path.lastIndexOf('/') + 1);
    this.#store = makeStore(options.indexBy);
    this.#backoff = makeBackoff(deps.time);
    this.#lastByteAt = deps.time.monotonic();
    this.synced = this.#filled.promise;
    deps.metrics.observeAge(this.#resource, () => this.silentMs());
  }

  get store(): Store {
    return this.#store;
  }

  hasSynced(): boolean {
    return this.#isSynced;
  }

  /** Returns the time since the last event, bookmark or list of the server, in milliseconds. */
  silentMs(): number {
    return this.#deps.time.monotonic() - this.#lastByteAt;
  }

  /** Calls `onChange` for each object in the store and each change, until the signal aborts. */
  watch(onChange: (change: StoreChange) => void, signal: AbortSignal): void {
    if (signal.aborted) return;
    const watcher = (change: StoreChange): void => this.#call(onChange, change);
    this.#watchers.add(watcher, signal);
    for (const object of this.#store.list()) watcher({ type: 'applied', object });
  }

  /** Lists and watches until the signal aborts. Called once. */
  async run(): Promise<void> {
    let first = this.#options.firstList === 'cached' ? '0' : '';
    while (!this.#signal.aborted) {
      try {
        await this.#watchFrom(await this.#list(first));
        // After an expired version the list must be consistent: a stale cache would return the same version again.
        first = '';
      } catch (error) {
        if (isTooNew(error)) first = '';
        this.#deps.log.warn({ err: error, resource: this.#resource }, 'list failed');
        await this.#pause(error);
      }
    }
  }

  /** Fills the store. Returns the version of the list. */
  async #list(first: string): Promise<string> {
    const { metadata, items } = await listAll(this.#deps, this.#options, first);
    this.#deps.metrics.listed(this.#resource);
    this.#noteByte();
    this.#notify(this.#store.replace(items.map((object) => this.#kept(object))));
    this.#isSynced = true;
    this.#filled.resolve();
    return metadata.resourceVersion;
  }

  /** Watches repeatedly until a version has expired. */
  async #watchFrom(listed: string): Promise<void> {
    const from = { version: listed };
    while (!this.#signal.aborted) {
      const began = this.#deps.time.monotonic();
      const { version } = from;
      const error: unknown = await this.#watchOnce(from).then(
        () => null,
        (thrown: unknown) => thrown,
      );
      if (this.#signal.aborted) return;
      // A watch that delivered events before it was cut is not a failure: reset the backoff.
      if (from.version !== version) this.#backoff.reset();
      const reason = restartReason(error);
      this.#deps.metrics.watchRestarted(this.#resource, reason);
      if (error === null && this.#deps.time.monotonic() - began > SHORT_WATCH_MS) continue;
      if (error !== null) this.#deps.log.warn({ err: error, resource: this.#resource, reason }, 'watch restarts');
      await this.#pause(error);
      if (reason === 'expired') return;
    }
  }

  /** Watches once and updates `from.version`. Throws unless the server ends the watch. */
  async #watchOnce(from: { version: string }): Promise<void> {
    const { path, silenceMs = SILENCE_MS } = this.#options;
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(), silenceMs);
    const onBytes = (): void => {
      this.#noteByte();
      timer.refresh();
    };
    try {
      const signal = AbortSignal.any([this.#signal, silence.signal]);
      const chunks = await this.#deps.client.watch(path, watchQuery(this.#deps, this.#options, from.version), signal);
      for await (const event of watchEvents(noting(chunks, onBytes))) {
        if (event.type === 'ERROR') throw expired(event.object);
        if (event.type !== 'BOOKMARK') this.#apply(event.type, event.object);
        from.version = event.object.metadata.resourceVersion;
      }
    } catch (error) {
      if (silence.signal.aborted) throw new KubeError('watch: timeout without a byte', { status: 0, reason: 'Silent' });
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): void {
    this.#notify(type === 'DELETED' ? this.#store.remove(object) : this.#store.apply(this.#kept(object)));
  }

  #kept(object: KubeObject): KubeObject {
    return this.#options.keep?.(object) ?? object;
  }

  #notify(changes: readonly StoreChange[]): void {
    for (const change of changes) this.#watchers.notify(change);
  }

  #call(onChange: (change: StoreChange) => void, change: StoreChange): void {
    try {
      onChange(change);
    } catch (error) {
      const { name } = change.object.metadata;
      this.#deps.log.error({ err: error, resource: this.#resource, name }, 'watcher failed');
    }
  }

  #noteByte(): void {
    this.#lastByteAt = this.#deps.time.monotonic();
  }

  #pause(error: unknown): Promise<void> {
    return this.#deps.time.wait(Math.max(this.#backoff.next(), retryAfterMs(error)), this.#signal);
  }
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
