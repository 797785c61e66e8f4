/** Isolation of engine processes on this machine: the strongest level that passes its trial. */
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LEVELS, namespacePrefix, PARTIAL, type IsolationLevel } from '#worker-image/tools/isolation-levels.ts';
import { NOT_STARTED, prepareTrial, type Trial } from '#worker-image/tools/isolation-trial.ts';
import { INHERITED_DESCRIPTOR } from '#worker-image/tools/run-command.ts';
import { seccompFilter } from '#worker-image/tools/seccomp-filter.ts';

type LevelName = (typeof LEVELS)[number]['name'];

export interface Isolation {
  /** `pod` and `none`: from the setting, because no level passed its trial. */
  readonly level: LevelName | 'pod' | 'none';
  /** Returns the prefix of an engine process's command line; the process may write only to the folder. */
  readonly child: (folder: string) => readonly string[];
  /** Opens the file that the process inherits as `INHERITED_DESCRIPTOR`, to be closed after its start; null: none. */
  readonly openFilter: () => number | null;
  /** True when an engine process has a process namespace, so that its whole tree dies with it. */
  readonly ownsProcesses: boolean;
  /** True when an engine process can open only the files of its folder, the system and its code. */
  readonly seesOnlyOwnFolder: boolean;
  /** True when `/tmp` and `/dev/shm` are private to the process. */
  readonly ownsMemory: boolean;
  /** One sentence for the log. */
  readonly summary: string;
}

/** No isolation: an engine process runs like any other process of this user. */
export const NO_ISOLATION: Isolation = {
  level: 'none',
  child: () => [],
  openFilter: () => null,
  ownsProcesses: false,
  seesOnlyOwnFolder: false,
  ownsMemory: false,
  summary: 'files are opened without isolation',
};

/** No level passed its trial, which the setting does not accept. The message names the failures and the remedy. */
export class IsolationMissing extends Error {
  override readonly name = 'IsolationMissing';
}

/** Setting for a machine on which no level passes: `pod` relies on the pod, `none` accepts no isolation. */
export type IsolationSetting = 'auto' | 'pod' | 'none';

interface ProbeInput {
  /** `MEDIAJOBS_ISOLATION`; default `auto`. */
  readonly setting?: IsolationSetting;
  /** Levels that are tried; by default all. */
  readonly levels?: readonly LevelName[];
}

/**
 * Returns the first level that passes its trial, with this process as the owner. If none does, returns as much as the
 * kernel supports for the setting `pod` or `none`.
 * @throws IsolationMissing with the setting `auto`.
 */
export async function probeIsolation({ setting = 'auto', levels }: ProbeInput = {}): Promise<Isolation> {
  const trial = await prepareTrial();
  try {
    const failures: string[] = [];
    const tried = LEVELS.filter(({ name }) => levels?.includes(name) ?? true);
    // In most pods no process may have namespaces, and each attempt tries the levels anew.
    const withoutNamespaces = tried.some((level) => level.ownsProcesses) ? await trial.start(namespacePrefix()) : null;
    for (const level of tried) {
      if (withoutNamespaces !== null && level.ownsProcesses) {
        failures.push(`${level.name}: ${withoutNamespaces}`);
        continue;
      }
      const { confinement, broken, close } = await attempt(trial, level);
      if (broken.length === 0) return { ...confinement, level: level.name, seesOnlyOwnFolder: true };
      close();
      failures.push(`${level.name}: ${broken.join(', ')}`);
    }
    if (setting === 'auto') throw new IsolationMissing(explain(failures));
    return await withoutLevel(trial, setting);
  } finally {
    await trial.close();
  }
}

/**
 * Returns the isolation of a level that has passed its trial in another process of this user and machine; null: there is
 * no level of that name. Without a trial, but no level falls back: where it does not work, no engine process starts.
 */
export function triedIsolation(name: string | undefined): Isolation | null {
  const level = LEVELS.find((one) => one.name === name);
  return level === undefined ? null : { ...confine(level).confinement, level: level.name, seesOnlyOwnFolder: true };
}

/** Returns the partial isolation if an engine process can start in it, otherwise none. */
async function withoutLevel(trial: Trial, level: 'pod' | 'none'): Promise<Isolation> {
  const { confinement, broken, close } = await attempt(trial, PARTIAL);
  const starts = !broken.some((sentence) => sentence.startsWith(NOT_STARTED));
  if (!starts) close();
  const summary = `${ACCEPTED[level]} (MEDIAJOBS_ISOLATION=${level}); of an engine process: ${broken.join(', ')}`;
  return { ...(starts ? { ...NO_ISOLATION, ...confinement } : NO_ISOLATION), level, summary };
}

const ACCEPTED = { pod: 'only the pod isolates files', none: 'files are opened without isolation' };

type Confinement = Omit<Isolation, 'level' | 'seesOnlyOwnFolder'>;

interface Confined {
  readonly confinement: Confinement;
  /** Closes the seccomp filter, without which no further process starts in the confinement. */
  readonly close: () => void;
}

/** Returns the level's confinement and the rules that did not hold in it. */
async function attempt(trial: Trial, level: IsolationLevel): Promise<Confined & { broken: readonly string[] }> {
  const confined = confine(level);
  const { child, openFilter } = confined.confinement;
  return { ...confined, broken: await trial.broken({ prefix: child, openFilter }) };
}

function confine(level: IsolationLevel): Confined {
  const { ownsProcesses, ownsMemory, summary, prefix } = level;
  // Inside a process namespace the owner's process id may be that of another process.
  const program = seccompFilter({ arch: process.arch, ownerPid: ownsProcesses ? null : process.pid });
  const { open, close } = program === null ? NO_FILTER : keepFilter(program);
  const filter = program === null ? null : INHERITED_DESCRIPTOR;
  const child = (folder: string) => prefix({ folder, filter });
  return { confinement: { child, openFilter: open, ownsProcesses, ownsMemory, summary }, close };
}

const NO_FILTER = { open: () => null, close: () => undefined };

/** Keeps the program open. Each process gets its own descriptor, because copies of one share their position. */
function keepFilter(program: Buffer): { open: () => number; close: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'filter-'));
  const file = join(folder, 'filter');
  writeFileSync(file, program);
  const kept = openSync(file, 'r');
  rmSync(folder, { recursive: true });
  return { open: () => openSync(`/proc/self/fd/${kept}`, 'r'), close: () => closeSync(kept) };
}

function explain(failures: readonly string[]): string {
  return (
    `Files cannot be opened in isolation on this machine. ${failures.map((failure) => `With ${failure}.`).join(' ')} ` +
    'Install bubblewrap (apt-get install bubblewrap) and allow user namespaces, or use a kernel with Landlock (5.19 or newer). ' +
    'To open files without isolation anyway, set MEDIAJOBS_ISOLATION=none.'
  );
}
