/** Processes of this machine, as Linux reports them in `/proc`; without `/proc` nothing is found. */
import { readdirSync, readFileSync } from 'node:fs';
import { readFile, readlink } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

export interface ProcessStat {
  readonly pid: number;
  /** Process id of the parent. */
  readonly parent: number;
  /** Process id of the session's leader. */
  readonly session: number;
  /** Clock ticks from the machine's start to that of the process. They distinguish it from a later one with its id. */
  readonly startedAtTick: number;
  /** CPU time of the process and of its children that were waited for, in seconds. */
  readonly cpuSeconds: number;
  /** True when the process has ended and was not waited for yet. */
  readonly hasEnded: boolean;
}

/** Ticks of `/proc/<pid>/stat` in a second, the same on every Linux machine. */
const TICKS_PER_SECOND = 100;
const KILL_ROUNDS = 200;
const KILL_ROUND_MS = 10;
/** Reads of the environment of a process between two programs, and the time between two of them in milliseconds. */
const MAX_ENVIRONMENT_READS = 500;
const ENVIRONMENT_READ_MS = 2;

/** Returns the content of `/proc/<pid>/stat`; null when there is no such process. */
export function readProcessStat(pid: number): ProcessStat | null {
  const text = readText(`/proc/${pid}/stat`);
  if (text === '') return null;
  const fields = statFields(text);
  const field = (number: number): number => Number(fields(number));
  return {
    pid,
    parent: field(4),
    session: field(6),
    startedAtTick: field(22),
    cpuSeconds: (field(14) + field(15) + field(16) + field(17)) / TICKS_PER_SECOND,
    hasEnded: fields(3) === 'Z' || fields(3) === 'X',
  };
}

/** Returns the CPU time of a process, its descendants and those of them that ended, in seconds; 0 for a missing one. */
export function treeCpuSeconds(pid: number): number {
  const own = readProcessStat(pid)?.cpuSeconds ?? 0;
  return childrenOf(pid).reduce((sum, child) => sum + treeCpuSeconds(child), own);
}

/** How a child process ended, as Node has it; both are null while it runs. */
interface EndOfChild {
  readonly exitCode: number | null;
  readonly signalCode: string | null;
}

/** Returns whether a child process has not ended. */
export function isAlive({ exitCode, signalCode }: EndOfChild): boolean {
  return exitCode === null && signalCode === null;
}

/** Kills a process with SIGKILL. Does nothing when it has ended or belongs to another user. */
export function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** Kills every process of the group with SIGKILL, as `killProcess` does. */
export function killGroup(leader: number): void {
  killProcess(-leader);
}

/** Kills a process and its descendants with SIGKILL, by one read of the process table. */
export function killTree(root: number): void {
  const all = readProcessTable();
  for (const pid of withDescendants(new Set([root]), all)) killProcess(pid);
}

/**
 * Kills a process and its descendants, found by their ancestors, session, environment (HOME, TMPDIR) and working
 * directory. For machines without process namespaces. A process that changes all four is not found: a double fork into
 * another session, then exec with another environment and directory.
 * @returns the process ids that survived SIGKILL for two seconds.
 */
export async function killDescendants(tree: { readonly root: number; readonly directory: string }): Promise<number[]> {
  // Processes remain members after the death of their parent.
  const members = new Set<string>();
  return killUntilNone(() => aliveMembers(tree, members));
}

/**
 * Kills every process with a TMPDIR that is the directory or below it, including tools that lost their parent or left
 * its process group.
 * @throws Error when a process survives SIGKILL for two seconds.
 */
export async function killProcessesOf(directory: string): Promise<void> {
  const survivors = await killUntilNone(() => processesOf(directory));
  if (survivors.length > 0) throw new Error(`Processes of ${directory} survive SIGKILL: ${survivors.join(', ')}.`);
}

/** Returns the ids of other processes with a TMPDIR that is the directory or below it. */
export async function processesOf(directory: string): Promise<number[]> {
  const pids = processIds().filter((pid) => pid !== process.pid);
  const isOwned = await Promise.all(pids.map((pid) => hasVariable(pid, /^TMPDIR=/, directory)));
  return pids.filter((_, index) => isOwned[index]);
}

async function killUntilNone(find: () => Promise<readonly number[]>): Promise<number[]> {
  for (let round = 0; round < KILL_ROUNDS; round += 1) {
    const found = await find();
    if (found.length === 0) return [];
    found.forEach(killProcess);
    await wait(KILL_ROUND_MS);
  }
  return [...(await find())];
}

async function aliveMembers(
  { root, directory }: { readonly root: number; readonly directory: string },
  members: Set<string>,
): Promise<number[]> {
  const alive = readProcessTable().filter(({ pid, hasEnded }) => !hasEnded && pid !== process.pid);
  const isMarked = await Promise.all(alive.map(({ pid }) => worksIn(pid, directory)));
  const found = alive.filter((one, index) => one.session === root || isMarked[index] || members.has(identity(one)));
  const doomed = withDescendants(new Set(found.map(({ pid }) => pid)), alive);
  for (const one of alive) if (doomed.has(one.pid)) members.add(identity(one));
  return [...doomed];
}

/** Adds the descendants to the set and returns it. */
function withDescendants(pids: Set<number>, all: readonly ProcessStat[]): Set<number> {
  // Iteration over a set includes what is added meanwhile.
  for (const ancestor of pids) for (const { pid, parent } of all) if (parent === ancestor) pids.add(pid);
  return pids;
}

function identity({ pid, startedAtTick }: ProcessStat): string {
  return `${pid} ${startedAtTick}`;
}

function readProcessTable(): ProcessStat[] {
  return processIds().flatMap((pid) => readProcessStat(pid) ?? []);
}

function processIds(): number[] {
  return namesIn('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

function childrenOf(pid: number): number[] {
  const lists = namesIn(`/proc/${pid}/task`).map((thread) => readText(`/proc/${pid}/task/${thread}/children`));
  return lists.flatMap((list) => list.split(' ').filter((text) => text !== '')).map(Number);
}

async function worksIn(pid: number, directory: string): Promise<boolean> {
  const current = await readlink(`/proc/${pid}/cwd`).catch(() => '');
  return isBelow(current.replace(/ \(deleted\)$/, ''), directory) || hasVariable(pid, /^(?:HOME|TMPDIR)=/, directory);
}

/** Returns false also when the process ends during the read or belongs to another user. */
async function hasVariable(pid: number, name: RegExp, directory: string): Promise<boolean> {
  const environment = await readEnvironment(pid);
  return environment.split('\0').some((entry) => name.test(entry) && isBelow(entry.replace(/^\w+=/, ''), directory));
}

/**
 * Returns the environment of a process as `NAME=value` entries with a NUL after each. It is empty while the process
 * executes another program, however long the processors are busy with others: it is then read again.
 */
async function readEnvironment(pid: number): Promise<string> {
  for (let read = 0; read < MAX_ENVIRONMENT_READS; read += 1) {
    const [, before] = memoryFields(pid);
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => null);
    if (environment !== '') return environment ?? '';
    const [memoryBytes, after] = memoryFields(pid);
    const isEmpty = after !== 0 && after === before;
    // Without memory it is a kernel thread, or has ended.
    if (isEmpty || memoryBytes === 0) return '';
    await wait(ENVIRONMENT_READ_MS);
  }
  return '';
}

/** Returns a process's memory in bytes and the end address of its environment, 0 while it executes another program. */
function memoryFields(pid: number): readonly [number, number] {
  const fields = statFields(readText(`/proc/${pid}/stat`));
  return [Number(fields(23) ?? 0), Number(fields(51) ?? 0)];
}

/** Returns a function that returns a field of `/proc/<pid>/stat`, from 3 on: the name, field 2, may contain any character. */
function statFields(text: string): (number: number) => string | undefined {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (number) => fields[number - 3];
}

function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
