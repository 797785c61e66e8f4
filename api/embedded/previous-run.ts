/**
 * The processes of a run, in a file, so that the next one can wait for those that are left when their
 * supervisor was killed: they end by themselves, but hold ports and connections until then.
 */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { killTree } from '#api/embedded/kill-tree.ts';
import { writeFileAtomically } from '#api/embedded/write-file.ts';

const processesSchema = z.array(z.object({ name: z.string(), pid: z.number(), startedAtTick: z.number() }));

const END_MS = 15_000;
const POLL_MS = 50;

export function recordProcesses(file: string, processes: readonly { name: string; pid: number }[]): void {
  const entries = processes.flatMap(({ name, pid }) => {
    const startedAtTick = startTick(pid);
    return startedAtTick === null ? [] : [{ name, pid, startedAtTick }];
  });
  writeFileAtomically(file, `${JSON.stringify(entries, null, 2)}\n`);
}

/** Waits until the recorded processes are gone; after 15 seconds they are killed. */
export async function awaitPreviousRun(file: string): Promise<void> {
  const left = readProcesses(file);
  for (let waitedMs = 0; left.some(isAlive); waitedMs += POLL_MS) {
    if (waitedMs >= END_MS) for (const { pid } of left.filter(isAlive)) killTree(pid);
    await delay(POLL_MS);
  }
}

type RecordedProcess = z.infer<typeof processesSchema>[number];

function readProcesses(file: string): RecordedProcess[] {
  if (!existsSync(file)) return [];
  try {
    return processesSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return [];
  }
}

function isAlive({ pid, startedAtTick }: RecordedProcess): boolean {
  return startTick(pid) === startedAtTick;
}

/** Clock ticks from the machine's start to the process's, which tells it from a later one of that number; null when it is dead. */
function startTick(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? null : Number(fields[19]);
  } catch {
    return null;
  }
}
