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
import { EXTRA_AFTER_MS, makeEnginePermits, type EnginePermits } from '#worker-image/sandbox/engine-permits.ts';
import { startTenantChildren, type ChildrenOptions } from '#worker-image/sandbox/tenant-children.ts';

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

export interface ChildPool {
  /** Announces the kind of the next file to the fresh process. */
  expect(kind: Kind): void;
  /**
   * Processes a file as soon as a permit is granted.
   * @throws MediaError engine_busy when the queue is full; what `SandboxedEngine.process` throws; the signal's reason.
   */
  process(input: PoolInput): Promise<EngineOutput>;
  readonly busy: () => number;
  readonly waiting: () => number;
  /** Ends all processes. */
  close(): Promise<void>;
}

/** Factor by which the time of a file that was refused for its cost counts in its tenant's share. */
const REFUSED_COST_WEIGHT = 2;
/** Tenant key of all files without a tenant, which have one share together. */
const NO_TENANT = '';

/** Starts the pool with its first process. */
export function startChildPool(options: PoolOptions): ChildPool {
  const children = startTenantChildren(options);
  const { children: permits, queue, extra } = options;
  const enginePermits = makeEnginePermits({ nowMs: () => performance.now() }, { permits, queue, extra });

  const process = async ({ tenant, onStart, ...input }: PoolInput): Promise<EngineOutput> => {
    const requestedAt = performance.now();
    await acquire(enginePermits, { tenant: tenant ?? NO_TENANT, signal: input.signal, busy: () => busy(options) });
    const startedAt = performance.now();
    onStart?.(startedAt - requestedAt);
    const child = children.acquire(tenant);
    let isGood = false;
    let weight = 1;
    try {
      const file = await child.process(input);
      isGood = file.report.result.warnings.length === 0;
      return file;
    } catch (error) {
      if (isRefusedForCost(error)) weight = REFUSED_COST_WEIGHT;
      throw error;
    } finally {
      children.release(child, { tenant, isGood });
      enginePermits.release(tenant ?? NO_TENANT, (weight * (performance.now() - startedAt)) / 1000);
    }
  };
  return {
    expect: (kind) => children.expect(kind),
    process,
    busy: enginePermits.running,
    waiting: enginePermits.waiting,
    close: () => children.close(),
  };
}

/** Resolves when the permit is granted. @throws MediaError engine_busy; the signal's reason. */
function acquire(
  permits: EnginePermits,
  { tenant, signal, busy: refusal }: { tenant: string; signal: AbortSignal; busy: () => MediaError },
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const timer = setTimeout(() => permits.offerExtra(), EXTRA_AFTER_MS + 1);
    const settle = (then: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      then();
    };
    const onAbort = (): void => {
      cancel();
      settle(() => reject(signal.reason as Error));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const cancel = permits.request({
      tenant,
      onGrant: () => settle(resolve),
      onRefuse: () => settle(() => reject(refusal())),
    });
  });
}

function isRefusedForCost(error: unknown): boolean {
  return error instanceof MediaError && (error.code === 'timeout' || isOverBudget(error));
}

function busy({ children, queue }: PoolOptions): MediaError {
  return new MediaError(
    'engine_busy',
    `All ${children} engines are busy and ${queue} files wait. Send the request again.`,
  );
}
