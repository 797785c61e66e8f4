/** How a process ended for lack of memory. */
import { readFile } from 'node:fs/promises';

/** End of a process. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Exit code of Node when its heap is full (SIGABRT). */
export const HEAP_FULL_EXIT_CODE = 134;

/** Returns whether memory ran out: Node ends with SIGABRT when its heap is full; the kernel counts its own SIGKILLs. */
export function isOutOfMemory({ code, signal }: Exit, kernelKilled: boolean): boolean {
  return signal === 'SIGABRT' || code === HEAP_FULL_EXIT_CODE || (signal === 'SIGKILL' && kernelKilled);
}

/** Returns the number of processes that the kernel's OOM killer has ended since boot; 0 when unknown. */
export async function oomKills(): Promise<number> {
  const statistics = await readFile('/proc/vmstat', 'utf8').catch(() => '');
  return Number(/^oom_kill (\d+)$/m.exec(statistics)?.[1] ?? 0);
}
