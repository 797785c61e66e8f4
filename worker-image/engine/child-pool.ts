/**
 * Engine processes of the direct lane: one file each at a time, a bounded number at work, a bounded
 * number of files waiting. Which process takes which file is told by `tenant-children.ts`.
 *
 *   (request) → waiting → at work → answered
 *       ╲→ engine_busy
 */
import type { Kind } from '#crds/formats.ts';
import { MediaError } from '#crds/media-error.ts';
import type { ChildInput } from '#worker-image/engine/engine-child.ts';
import type { ProcessedFile } from '#worker-image/engine/process-file.ts';
import { startTenantChildren, type ChildrenOptions } from '#worker-image/engine/tenant-children.ts';

export interface PoolOptions extends ChildrenOptions {
  /** Files that may wait. */
  readonly queue: number;
}

export interface PoolInput extends ChildInput {
  /** Opaque mark of whose file it is; its process opens nobody else's. null: its process opens no other file. */
  readonly tenant: string | null;
  /** Called when a process takes it, with the milliseconds that it has waited for one. */
  readonly onStart?: (waitedMs: number) => void;
}

export interface ChildPool {
  /** Tells the process that stands by what kind of file is on its way. */
  expect(kind: Kind): void;
  /**
   * Works on a file as soon as a process is free.
   * @throws MediaError engine_busy when too many wait; what `EngineChild.process` throws; the signal's reason.
   */
  process(input: PoolInput): Promise<ProcessedFile>;
  readonly busy: () => number;
  readonly waiting: () => number;
  /** Ends all processes. */
  close(): Promise<void>;
}

/** Starts the pool with its first process. */
export function startChildPool(options: PoolOptions): ChildPool {
  const children = startTenantChildren(options);
  const waiting: (() => void)[] = [];
  let taken = 0;

  const takePlace = async (signal: AbortSignal): Promise<void> => {
    if (taken < options.children) {
      taken += 1;
      return;
    }
    if (waiting.length >= options.queue) {
      throw new MediaError(
        'engine_busy',
        `All ${options.children} engines are busy and ${options.queue} files wait. Send the request again.`,
      );
    }
    await turn(waiting, signal);
  };
  /** The place goes straight to the file that has waited longest. */
  const givePlace = (): void => {
    const next = waiting.shift();
    if (next === undefined) taken -= 1;
    else next();
  };
  const process = async ({ tenant, onStart, ...input }: PoolInput): Promise<ProcessedFile> => {
    const cameAt = performance.now();
    await takePlace(input.signal);
    onStart?.(performance.now() - cameAt);
    const child = children.take(tenant);
    let isGood = false;
    try {
      const file = await child.process(input);
      isGood = file.report.result.warnings.length === 0;
      return file;
    } finally {
      children.giveBack(child, { tenant, isGood });
      givePlace();
    }
  };
  return {
    expect: (kind) => children.expect(kind),
    process,
    busy: () => taken,
    waiting: () => waiting.length,
    close: () => children.close(),
  };
}

/** Resolves when the place is handed over; leaves the line on abort. */
function turn(waiting: (() => void)[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      waiting.splice(waiting.indexOf(onTurn), 1);
      reject(signal.reason as Error);
    };
    const onTurn = (): void => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    };
    if (signal.aborted) return reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    waiting.push(onTurn);
  });
}
