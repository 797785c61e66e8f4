/**
 * Aborts the work on a file that uses more CPU time than its budget. The owner of the engine process measures it: no
 * tool and no loop inside the process can evade it.
 */
import { stat } from 'node:fs/promises';
import { MediaError } from '#crds/contract/media-error.ts';
import { firstCpuSeconds } from '#worker-image/sandbox/cpu-budget.ts';
import { treeCpuSeconds } from '#crds/process/process-tree.ts';

/** Interval of the measurements, in milliseconds. A file that is done sooner is never measured. */
const MEASURE_EVERY_MS = 1000;

/** Refusal of a file that used more CPU time than its budget. */
class CpuBudgetExceeded extends MediaError {
  constructor(usedSeconds: number, budgetSeconds: number) {
    super(
      'processing_failed',
      `The work used ${Math.round(usedSeconds)} seconds of CPU time; a file of this kind and size may use ${budgetSeconds}. Save it again with another program, simplify its content, or split it and send the parts.`,
    );
  }
}

/** Returns whether the error refuses a file that used more CPU time than its budget. */
export function isOverBudget(error: unknown): boolean {
  return error instanceof CpuBudgetExceeded;
}

export interface WatchedWork<T> {
  /** Process id of the engine process. */
  readonly pid: number;
  /** Path of the file, which bounds the work until the budget is known. */
  readonly path: string;
  readonly signal: AbortSignal;
  /** `setBudget` is called once the file's budget is known, in seconds. */
  readonly work: (watched: { signal: AbortSignal; setBudget: (seconds: number) => void }) => Promise<T>;
}

/**
 * Runs the work with a signal that is also aborted when the engine process and its tools have used the budget.
 * @throws MediaError processing_failed over the budget; what the work throws.
 */
export async function withCpuWatch<T>({ pid, path, signal, work }: WatchedWork<T>): Promise<T> {
  const overBudget = new AbortController();
  /** Budget in seconds; null until the file's kind and facts are known. */
  let knownBudget: number | null = null;
  /** CPU time at the first measurement, in seconds; null before. */
  let secondsAtStart: number | null = null;
  const measure = async (): Promise<void> => {
    const seconds = treeCpuSeconds(pid);
    secondsAtStart ??= seconds;
    const budget = knownBudget ?? (await firstBudget(path));
    if (seconds - secondsAtStart > budget) overBudget.abort(new CpuBudgetExceeded(seconds - secondsAtStart, budget));
  };
  const timer = setInterval(() => void measure(), MEASURE_EVERY_MS).unref();
  const setBudget = (seconds: number): void => {
    knownBudget = seconds;
  };
  try {
    return await work({ signal: AbortSignal.any([signal, overBudget.signal]), setBudget });
  } finally {
    clearInterval(timer);
  }
}

/** Returns the budget by the file's size; Infinity when the file is missing, because its work has ended. */
async function firstBudget(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => Math.ceil(firstCpuSeconds(size)),
    () => Infinity,
  );
}
