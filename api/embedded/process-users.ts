/**
 * User and group of each process, by number, without entries in /etc/passwd. A data folder has a range of sixteen
 * numbers, recorded in its file `users.json`. It gets another range when one of the numbers is in use.
 *
 *   65536 … 99999   Debian and systemd assign none of these numbers; ranges of containers begin at 100000
 *   32768 … 59999   in a user namespace with fewer numbers, such as a container of rootless Docker
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { folderHash } from '#api/embedded/folder-hash.ts';
import { PROCESSES, type ProcessName } from '#api/embedded/process-list.ts';
import { StartError } from '#api/embedded/start-error.ts';
import { writeFileAtomically } from '#api/embedded/write-file.ts';

export interface ProcessUser {
  readonly uid: number;
  readonly gid: number;
  /** Supplementary groups. */
  readonly groups: readonly number[];
}

export interface ProcessUsers {
  of(name: ProcessName): ProcessUser;
  /** Group of the processes that share the database and the file store. */
  readonly records: number;
}

interface Numbers {
  readonly lowest: number;
  /** First number above the range. */
  readonly end: number;
}

const NUMBERS: Numbers = { lowest: 65_536, end: 100_000 };
const NUMBERS_OF_NAMESPACE: Numbers = { lowest: 32_768, end: 60_000 };
/** Numbers of one data folder. */
const RANGE = 16;
/** Offset of the shared group in the range. */
const RECORDS = RANGE - 1;
const SHARE_RECORDS: readonly ProcessName[] = ['api', 'control', 'courier'];
/** Maximum time to wait for the processes of a killed run to end, in milliseconds. */
const PREVIOUS_RUN_MS = 3000;
const POLL_MS = 50;

const fileSchema = z.object({ first: z.int() });

/**
 * Returns the users of a data folder: those of its record, or new ones when an account, a group or a process of the
 * machine has one of the numbers.
 * @throws StartError when every range is in use.
 */
export async function chooseUsers(folder: string, file: string): Promise<ProcessUsers> {
  const numbers = usableNumbers(readFileSync('/proc/self/uid_map', 'utf8'));
  const recorded = readFirst(file, numbers);
  const preferred = recorded ?? firstNumberOf(folder, numbers);
  if (recorded !== null) await untilUnused(recorded);
  const taken = takenNumbers();
  const ranges = rangesIn(numbers);
  for (let tried = 0; tried < ranges; tried += 1) {
    const first = numbers.lowest + ((preferred - numbers.lowest + tried * RANGE) % (ranges * RANGE));
    if ([...taken].some((number) => number >= first && number < first + RANGE)) continue;
    if (first !== recorded) writeFileAtomically(file, `${JSON.stringify({ first })}\n`);
    return usersFrom(first);
  }
  throw new StartError(
    `Every user number from ${numbers.lowest} to ${numbers.end - 1} is in use on this machine; the service needs ${RANGE} consecutive numbers.`,
  );
}

/** Returns the first number that a data folder gets unless it is in use. */
export function firstNumberOf(folder: string, numbers = NUMBERS): number {
  return numbers.lowest + RANGE * (Number.parseInt(folderHash(folder), 16) % rangesIn(numbers));
}

/** Returns the numbers to choose from. @param map text of `/proc/self/uid_map`: lines of first number, first number outside, count. */
export function usableNumbers(map: string): Numbers {
  const rows = map
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const covers = ({ lowest, end }: Numbers): boolean =>
    rows.some(([first = 0, , count = 0]) => first <= lowest && first + count >= end);
  return covers(NUMBERS) ? NUMBERS : NUMBERS_OF_NAMESPACE;
}

function rangesIn({ lowest, end }: Numbers): number {
  return Math.floor((end - lowest) / RANGE);
}

export function usersFrom(first: number): ProcessUsers {
  const records = first + RECORDS;
  return {
    records,
    of: (name) => {
      const number = first + PROCESSES.findIndex((entry) => entry.name === name);
      return { uid: number, gid: number, groups: SHARE_RECORDS.includes(name) ? [records] : [] };
    },
  };
}

/** Returns null also for a number that the folder got in another user namespace. */
function readFirst(file: string, { lowest, end }: Numbers): number | null {
  if (!existsSync(file)) return null;
  try {
    const { first } = fileSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
    return first >= lowest && first + RANGE <= end ? first : null;
  } catch {
    return null;
  }
}

async function untilUnused(first: number): Promise<void> {
  for (let waitedMs = 0; waitedMs < PREVIOUS_RUN_MS; waitedMs += POLL_MS) {
    if (!usersOfProcesses().some((uid) => uid >= first && uid < first + RANGE)) return;
    await delay(POLL_MS);
  }
}

/** Returns the numbers that an account, a group or a running process has. */
function takenNumbers(): Set<number> {
  const accounts = ['/etc/passwd', '/etc/group'].flatMap((file) =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .map((line) => Number(line.split(':')[2]))
      : [],
  );
  return new Set([...accounts, ...usersOfProcesses()]);
}

function usersOfProcesses(): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid ?? []);
}
