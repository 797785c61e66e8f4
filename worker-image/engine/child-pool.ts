/**
 * Engine processes of the direct lane: one file each at a time, a bounded number at work, a bounded
 * number of files waiting. At rest one process stands by, so that a file never waits for a start.
 *
 *   (request) → waiting → at work → answered
 *       ╲→ engine_busy       ╲→ its process is used again, or replaced
 */
import type { Kind } from '#crds/formats.ts';
import { MediaError } from '#crds/media-error.ts';
import { startChildAtHome } from '#worker-image/engine/child-at-home.ts';
import type { ChildInput, EngineChild } from '#worker-image/engine/engine-child.ts';
import type { ProcessedFile } from '#worker-image/engine/process-file.ts';
import type { Isolation } from '#worker-image/tools/isolation.ts';

export interface PoolOptions {
  readonly isolation: Isolation;
  /** Private, for the homes of the processes; on the file system of the tasks' directories. */
  readonly directory: string;
  /** Files at work at once. */
  readonly children: number;
  /** Files that may wait. */
  readonly queue: number;
  /** Files that one process works on before it is replaced. */
  readonly filesPerChild: number;
}

export interface ChildPool {
  /** Tells the process that stands by what kind of file is on its way. */
  expect(kind: Kind): void;
  /**
   * Works on a file as soon as a process is free.
   * @throws MediaError engine_busy when too many wait; what `EngineChild.process` throws; the signal's reason.
   */
  process(input: ChildInput): Promise<ProcessedFile>;
  readonly busy: () => number;
  readonly waiting: () => number;
  /** Ends all processes. */
  close(): Promise<void>;
}

/** A process that has grown over this is replaced after its file. */
const MAX_RSS_BYTES = 512 * 1024 ** 2;

/** Starts the pool with its first spare process. */
export function startChildPool(options: PoolOptions): ChildPool {
  const children = new Set<EngineChild>();
  const waiting: (() => void)[] = [];
  let spare: EngineChild | null = null;
  let busy = 0;
  let isClosed = false;

  const start = (): EngineChild => {
    const child = startChildAtHome(options.isolation, options.directory);
    children.add(child);
    void child.ended.then(() => {
      children.delete(child);
      if (spare === child) spare = null;
    });
    return child;
  };
  const keepSpare = (): void => {
    if (!isClosed && spare === null && busy < options.children) spare = start();
  };
  const takePlace = async (signal: AbortSignal): Promise<void> => {
    if (busy < options.children) {
      busy += 1;
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
    if (next === undefined) busy -= 1;
    else next();
  };
  const giveBack = (child: EngineChild): void => {
    const isWorn = child.files() >= options.filesPerChild || child.rssBytes() > MAX_RSS_BYTES;
    if (spare === null && !isWorn && !isClosed && children.has(child)) spare = child;
    else void child.kill();
  };
  const process = async (input: ChildInput): Promise<ProcessedFile> => {
    await takePlace(input.signal);
    const child = spare ?? start();
    spare = null;
    keepSpare();
    try {
      return await child.process(input);
    } finally {
      giveBack(child);
      givePlace();
      keepSpare();
    }
  };
  keepSpare();
  return {
    expect: (kind) => spare?.expect(kind),
    process,
    busy: () => busy,
    waiting: () => waiting.length,
    close: async () => {
      isClosed = true;
      await Promise.all([...children].map((child) => child.kill()));
    },
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
