/**
 * Engine processes of the direct lane: each processes one file at a time. `engine-permits.ts` decides which file is
 * next, `tenant-children.ts` which process opens it.
 *
 *   (request) → queued → running → answered
 *       ╲        ╲→ engine_busy: another tenant has fewer files in a full queue
 *        ╲→ engine_busy
 */
import type { Kind } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import type { EngineOutput } from '#worker-image/sandbox/sandboxed-engine.ts';
import { isOverBudget } from '#worker-image/sandbox/cpu-watch.ts';
import type { ChildInput } from '#worker-image/sandbox/engine-process.ts';
import { EXTRA_AFTER_MS, EnginePermits, type EnginePermit } from '#worker-image/sandbox/engine-permits.ts';
import { TenantChildren, type ChildrenOptions } from '#worker-image/sandbox/tenant-children.ts';

export interface PoolOptions extends ChildrenOptions {
  /** Maximum number of files in the queue. */
  readonly queue: number;
  /** Maximum number of further running files, of tenants with none running while others use all processes. */
  readonly extra: number;
}

export interface PoolInput extends ChildInput {
  /** Opaque identifier of the account whose files the process may open; null: the process opens no other file. */
  readonly tenant: string | null;
  /** Called when a process starts on the file, with the time that it waited in the queue, in milliseconds. */
  readonly onStart?: (waitedMs: number) => void;
}

/** Factor by which the time of a file that was refused for its cost counts in its tenant's share. */
const REFUSED_COST_WEIGHT = 2;
/** Tenant key of all files without a tenant, which have one share together. */
const NO_TENANT = '';

/** Starts with one process. */
export class ChildPool {
  readonly #options: PoolOptions;
  readonly #children: TenantChildren;
  readonly #permits: EnginePermits;

  constructor(options: PoolOptions) {
    const { children: permits, queue, extra } = options;
    this.#options = options;
    this.#children = new TenantChildren(options);
    this.#permits = new EnginePermits({ nowMs: () => performance.now() }, { permits, queue, extra });
  }

  /** Announces the kind of the next file to the fresh process. */
  expect(kind: Kind): void {
    this.#children.expect(kind);
  }

  /** Returns the number of running files. */
  busy(): number {
    return this.#permits.running();
  }

  /** Returns the number of files in the queue. */
  waiting(): number {
    return this.#permits.waiting();
  }

  /** Ends all processes. */
  close(): Promise<void> {
    return this.#children.close();
  }

  /**
   * Processes a file as soon as a permit is granted.
   * @throws MediaError engine_busy when the queue is full; what `SandboxedEngine.process` throws; the signal's reason.
   */
  async process({ tenant, onStart, ...input }: PoolInput): Promise<EngineOutput> {
    const requestedAt = performance.now();
    const permit = await this.#acquirePermit(tenant ?? NO_TENANT, input.signal);
    const startedAt = performance.now();
    onStart?.(startedAt - requestedAt);
    const child = this.#children.acquire(tenant);
    let isGood = false;
    let weight = 1;
    try {
      const file = await child.engine.process(input);
      isGood = file.report.result.warnings.length === 0;
      return file;
    } catch (error) {
      if (isRefusedForCost(error)) weight = REFUSED_COST_WEIGHT;
      throw error;
    } finally {
      child.release(isGood);
      permit.release((weight * (performance.now() - startedAt)) / 1000);
    }
  }

  /** Resolves when the permit is granted. @throws MediaError engine_busy; the signal's reason. */
  async #acquirePermit(tenant: string, signal: AbortSignal): Promise<EnginePermit> {
    signal.throwIfAborted();
    const granted = Promise.withResolvers<void>();
    const permit = this.#permits.acquire({
      tenant,
      onGrant: granted.resolve,
      onRefuse: () => granted.reject(busy(this.#options)),
    });
    const onAbort = (): void => {
      permit.release();
      granted.reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const timer = setTimeout(() => this.#permits.offerExtra(), EXTRA_AFTER_MS + 1);
    try {
      await granted.promise;
      // An abort directly after the grant has released the permit.
      signal.throwIfAborted();
      return permit;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }
}

function isRefusedForCost(error: unknown): boolean {
  return error instanceof MediaError && (error.code === 'timeout' || isOverBudget(error));
}

function busy({ children, queue }: PoolOptions): MediaError {
  return new MediaError(
    'engine_busy',
    `All ${children} engines are busy and the queue of ${queue} files is full. Send the request again.`,
  );
}
