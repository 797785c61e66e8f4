/**
 * User and file system view of each process of the service:
 *
 *   root, mounts allowed                   own user, and a view with only the needed parts of the data folder
 *   root, no mounts, readable code folder  own user
 *   otherwise                              the supervisor's user for all, and a sentence that says so
 */
import { chmodSync, existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DataFolder } from '#api/embedded/data-folder.ts';
import { fileView } from '#api/embedded/file-view.ts';
import { identityCommand } from '#api/embedded/process-identity.ts';
import type { ProcessName } from '#api/embedded/process-list.ts';
import { isPathSetting } from '#api/embedded/process-settings.ts';
import { chooseUsers, type ProcessUsers } from '#api/embedded/process-users.ts';
import { startSystemProcess } from '#api/embedded/system-process.ts';
import { socketOf } from '#crds/process/start-request.ts';

export interface ProcessNeeds {
  readonly env: Readonly<Record<string, string>>;
  /** Sockets that the process connects to and that its settings do not name. */
  readonly sockets: readonly string[];
  /** Ports that the process binds. */
  readonly ports: readonly number[];
}

export interface Identities {
  /** null: every process runs as the supervisor's user. */
  readonly users: ProcessUsers | null;
  /** One sentence for the operator. */
  readonly summary: string;
  /** Returns the command line put before the process's own; empty when it runs as the supervisor's user. */
  commandOf(name: ProcessName, needs: ProcessNeeds): string[];
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CODE = ['package.json', 'node_modules', '.tools', 'api', 'controller', 'crds', 'docs', 'worker-image'];
/** Files that every process must be able to read. */
const TRIAL = ['package.json', 'worker-image/sandbox/child.ts', 'api/main.ts', 'node_modules/zod/package.json'];

/** Returns the strictest identities that this machine allows. @throws StartError when no user numbers are free. */
export async function openIdentities(folder: DataFolder): Promise<Identities> {
  if (process.getuid?.() !== 0) {
    const summary = `every process runs as the user ${process.getuid?.()}: a file that exploits its decoder has the rights of this user, except those that the isolation of the engine removes. When root starts the service, each process gets a user of its own.`;
    return { users: null, summary, commandOf: () => [] };
  }
  const users = await chooseUsers(folder.path, folder.in('users.json'));
  let lastProblem = '';
  for (const withView of [true, false]) {
    // Without a view, the processes reach their sockets through these folders.
    if (!withView) for (const one of [folder.path, folder.in('run')]) chmodSync(one, 0o711);
    const command = (name: ProcessName, needed: readonly string[], ports: readonly number[]): string[] => {
      const view = withView ? fileView(folder.path, [...codePaths(), ...needed]) : null;
      return identityCommand({ user: users.of(name), view, ports });
    };
    const problem = await problemOf(command('engine', [], []));
    if (problem === null) {
      return {
        users,
        summary: `every process runs as a user of its own, without privileges${withView ? ', and sees only its part of the data folder' : ''}`,
        commandOf: (name, needs) => command(name, neededPaths(needs, folder.path), needs.ports),
      };
    }
    lastProblem = problem;
  }
  return asRoot(folder, lastProblem);
}

function asRoot(folder: DataFolder, problem: string): Identities {
  chmodSync(folder.path, 0o700);
  const summary = `every process runs as root, because this machine does not let another user run the service from ${ROOT} (${problem}). A file that exploits its decoder has the rights of root, except those that the isolation of the engine removes. Put the service where every user may read it, such as /opt, or allow mounts.`;
  return { users: null, summary, commandOf: () => [] };
}

/** Starts a trial process with the command line. Returns null when it can read the code and run Node, else the reason. */
async function problemOf([file = '', ...args]: readonly string[]): Promise<string | null> {
  const lines: string[] = [];
  const check = 'for file do test -r "$file" || { echo "it may not read $file"; exit 1; }; done; exec "$0" --version';
  const trial = await startSystemProcess({
    file,
    args: [...args, '/bin/sh', '-c', check, process.execPath, ...TRIAL.map((name) => path.join(ROOT, name))],
    user: null,
    deathSignal: 'KILL',
    onLine: (line) => lines.push(line),
  });
  const end = await trial.ended;
  return end === 'exit code 0' ? null : (lines.at(-1) ?? end);
}

function codePaths(): string[] {
  return [...CODE.map((name) => path.join(ROOT, name)), process.execPath].filter((one) => existsSync(one));
}

/** Returns existing files and folders that the settings and sockets of the process name. */
function neededPaths({ env, sockets }: ProcessNeeds, data: string): string[] {
  const settings = Object.entries(env).flatMap(([name, text]) => pathsOf(name, text));
  const named = [...settings, ...sockets.flatMap((one) => socketFolder(path.dirname(one)))];
  const there = named.filter((one) => existsSync(one));
  return [
    ...new Set(
      there.map((one) => (one.endsWith('/') || !mayShowFolder(one, data) ? path.resolve(one) : path.dirname(one))),
    ),
  ];
}

/** Returns whether the file's folder may be shown. A rename that replaces the file is only visible through its folder. */
function mayShowFolder(file: string, data: string): boolean {
  const above = path.dirname(file);
  return (statSync(above).mode & 0o011) !== 0 && !`${data}/`.startsWith(`${above}/`);
}

/** Returns the paths that a setting names; folders end with a slash. */
function pathsOf(name: string, text: string): string[] {
  if (name.endsWith('_URL')) return foldersOfUrl(name, text);
  if (name.endsWith('_SOCKET')) return socketFolder(path.dirname(text));
  if (name === 'NODE_EXTRA_CA_CERTS') return [path.resolve(text)];
  if (!isPathSetting(name)) return [];
  return [name.endsWith('_DIR') ? `${text}/` : text];
}

/** Returns the folder of the socket that a URL names; none for a network address. */
function foldersOfUrl(name: string, text: string): string[] {
  const url = URL.parse(text);
  if (url === null) return [];
  if (name === 'DATABASE_URL') return socketFolder(url.searchParams.get('host') ?? '');
  if (name === 'REDIS_URL') return url.protocol === 'unix:' ? socketFolder(path.dirname(url.pathname)) : [];
  const socket = socketOf(text);
  return socket === null ? [] : socketFolder(path.dirname(socket));
}

/** Returns the folder in place of the socket, which may not exist yet. */
function socketFolder(folder: string): string[] {
  return folder.startsWith('/') ? [`${folder}/`] : [];
}
