/**
 * Record of the service's processes, so that the next start can wait for those that outlive a killed supervisor. They
 * end by themselves, but hold ports and connections until then.
 */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { killTree, readProcessStat } from '#crds/process/process-tree.ts';
import { writeFileAtomically } from '#api/embedded/write-file.ts';

const processesSchema = z.object({
  /** Id of the machine's boot: after a reboot another process may have the same pid and start tick. */
  bootId: z.string(),
  processes: z.array(z.object({ name: z.string(), pid: z.number(), startedAtTick: z.number() })),
});

const END_MS = 15_000;
const POLL_MS = 50;

export function recordProcesses(file: string, processes: readonly { name: string; pid: number }[]): void {
  const recorded = processes.flatMap(({ name, pid }) => {
    const startedAtTick = readProcessStat(pid)?.startedAtTick ?? null;
    return startedAtTick === null ? [] : [{ name, pid, startedAtTick }];
  });
  const record = JSON.stringify({ bootId: bootId(), processes: recorded }, null, 2);
  writeFileAtomically(file, `${record}\n`, { isDurable: false });
}

/** Waits until the recorded processes have ended; after 15 seconds they are killed. */
export async function awaitPreviousRun(file: string): Promise<void> {
  const left = readProcesses(file);
  for (let waitedMs = 0; left.some(isAlive); waitedMs += POLL_MS) {
    if (waitedMs >= END_MS) for (const { pid } of left.filter(isAlive)) killTree(pid);
    await delay(POLL_MS);
  }
}

type RecordedProcess = z.infer<typeof processesSchema>['processes'][number];

function readProcesses(file: string): RecordedProcess[] {
  if (!existsSync(file)) return [];
  try {
    const recorded = processesSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
    return recorded.bootId === bootId() ? recorded.processes : [];
  } catch {
    return [];
  }
}

function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

function isAlive({ pid, startedAtTick }: RecordedProcess): boolean {
  const stat = readProcessStat(pid);
  return stat !== null && !stat.hasEnded && stat.startedAtTick === startedAtTick;
}
