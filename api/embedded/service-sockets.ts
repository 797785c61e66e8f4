/** Unix sockets of the processes on one machine, each in a folder of its own. */
import path from 'node:path';
import { PROCESSES, type ProcessName } from '#api/embedded/process-list.ts';
import type { ProcessUsers } from '#api/embedded/process-users.ts';
import { makeSocketFolder } from '#api/embedded/socket-folder.ts';

export interface ServiceSockets {
  /** The engine of the direct lane; the API connects. */
  readonly engine: string;
  /** The file store on disk; the runs of jobs connect. */
  readonly files: string;
  /** The controller; the runs of jobs connect. */
  readonly heartbeat: string;
  /** The process that runs jobs; the controller connects. */
  readonly runs: string;
  /** Metrics and health of each process. */
  readonly ops: Readonly<Record<ProcessName, string>>;
}

const SOCKET = 'socket';

/**
 * Creates the folders. Only the server and its clients may enter each one (`users` null: the supervisor's user), so no
 * other user can connect, or listen there after a process has died.
 * @throws StartError when somebody else owns such a folder.
 */
export function makeServiceSockets(
  dataFolder: string,
  users: ProcessUsers | null,
): { sockets: ServiceSockets; remove: () => void } {
  const folders: { remove: () => void }[] = [];
  const make = (name: string, server: ProcessName, client: ProcessName | null): string => {
    const owner = users?.of(server) ?? null;
    const mayEnter = client === null ? null : (users?.of(client).gid ?? null);
    const folder = makeSocketFolder(dataFolder, name, { owner, mayEnter });
    folders.push(folder);
    return path.join(folder.path, SOCKET);
  };
  const ops = Object.fromEntries(PROCESSES.map(({ name }) => [name, make(`ops-${name}`, name, null)]));
  return {
    sockets: {
      engine: make('engine', 'engine', 'api'),
      files: make('files', 'api', 'runs'),
      heartbeat: make('heartbeat', 'control', 'runs'),
      runs: make('runs', 'runs', 'control'),
      ops: ops as Record<ProcessName, string>,
    },
    remove: () => folders.forEach((folder) => folder.remove()),
  };
}
