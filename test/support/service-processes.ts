/** The processes of a service on a data folder, found in /proc: nothing that the service keeps itself is trusted here. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { folderHash } from '#api/embedded/folder-hash.ts';
import { filesBelow } from '#test/support/files-below.ts';

/**
 * `worker` is one attempt of a job, `engine child` the process that decodes, `tool` what that one starts,
 * `backend` what PostgreSQL's first process starts, `wrapper` a process between an owner and its child.
 */
export type ProcessRole =
  | 'supervisor'
  | 'api'
  | 'control'
  | 'runs'
  | 'courier'
  | 'engine'
  | 'worker'
  | 'engine child'
  | 'tool'
  | 'postgres'
  | 'backend'
  | 'redis'
  | 'wrapper';

export interface ServiceProcess {
  readonly pid: number;
  readonly role: ProcessRole;
  /** True for a process of a running job, false for a server or an idle process. */
  readonly ofJob: boolean;
  readonly command: string;
}

const SCRIPTS: readonly (readonly [script: string, role: ProcessRole])[] = [
  ['api/embedded.ts', 'supervisor'],
  ['api/main.ts', 'api'],
  ['api/embedded-control.ts', 'control'],
  ['controller/embedded-runs.ts', 'runs'],
  ['api/courier.ts', 'courier'],
  ['worker-image/serve-direct.ts', 'engine'],
  ['worker-image/serve-attempts', 'worker'],
  ['worker-image/sandbox/child', 'engine child'],
];

/** Programs that start a process of the service, some of them as steps of `api/embedded/start-process.sh`. */
const WRAPPERS = ['setpriv', 'unshare', 'prlimit', 'bash', 'mount', 'mkdir', 'dirname'];

/** Returns every process of the folder, whatever its parent. */
export function processesOf(data: string): ServiceProcess[] {
  const marks = [data, `mediajobs-${folderHash(data)}`, `-${folderHash(data)}-`];
  return otherPids().flatMap((pid) => {
    const [command, environment] = [read(pid, 'cmdline'), read(pid, 'environ')];
    if (command === '' || !marks.some((mark) => command.includes(mark) || environment.includes(mark))) return [];
    const ofJob = isOfJob(path.join(data, 'work', 'runs'), environment);
    return [{ pid, role: roleOf(pid, command), ofJob, command: command.replaceAll('\0', ' ') }];
  });
}

/**
 * Returns the paths of files of attempts, relative to `work/runs`. What an engine process that waits for a file has
 * there, such as the profile of a LibreOffice started ahead, belongs to no attempt while the process is alive.
 */
export function filesOfAttempts(data: string): string[] {
  const runs = path.join(data, 'work', 'runs');
  const environments = otherPids().map((pid) => read(pid, 'environ'));
  const waiting = environments.flatMap((environment) => {
    const [, worker = '', engine] = temporaryFolder(runs, environment) ?? [];
    return engine === undefined || isOfJob(runs, environment) ? [] : [`${path.join(worker, engine)}${path.sep}`];
  });
  return filesBelow(runs).filter((file) => !waiting.some((folder) => file.startsWith(folder)));
}

/** Returns the names of the runs, such as `job-x-a1`, of the worker process with that environment. */
export function runsOfWorker(data: string, environment: string): string[] {
  const [, worker = ''] = temporaryFolder(path.join(data, 'work', 'runs'), environment) ?? [];
  return namesIn(path.join(data, 'work', 'runs', worker))?.filter((name) => name.startsWith('job-')) ?? [];
}

/**
 * Returns whether a process works for a run, or is left of a worker process that has ended. One that waits for a run has
 * a folder without a run; an engine process that waits for a file has one without the file.
 */
function isOfJob(runs: string, environment: string): boolean {
  const [, worker, engine] = temporaryFolder(runs, environment) ?? [];
  if (worker === undefined) return false;
  const names = namesIn(path.join(runs, worker, engine ?? ''));
  return names === null || names.some((name) => (engine === undefined ? name.startsWith('job-') : name === 'file'));
}

/** Matches TMPDIR: the folder of a worker process, then that of its engine process. */
function temporaryFolder(runs: string, environment: string): RegExpExecArray | null {
  const value = /(?:^|\0)TMPDIR=([^\0]*)/.exec(environment)?.[1] ?? '';
  return value.startsWith(`${runs}/`) ? /^(worker-\d+)(?:\/(work-[^/]+))?/.exec(value.slice(runs.length + 1)) : null;
}

function otherPids(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid);
}

function namesIn(folder: string): string[] | null {
  try {
    return readdirSync(folder);
  } catch {
    return null;
  }
}

function roleOf(pid: number, command: string): ProcessRole {
  const program = path.basename(linkOf(pid));
  if (program === 'node') return SCRIPTS.find(([script]) => command.includes(script))?.[1] ?? 'tool';
  if (program === 'postgres') return command.startsWith('postgres:') ? 'backend' : 'postgres';
  if (program.startsWith('redis')) return 'redis';
  return WRAPPERS.includes(program) ? 'wrapper' : 'tool';
}

/** Returns an empty text when the process has ended. */
function read(pid: number, name: 'cmdline' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

function linkOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch {
    return '';
  }
}
