/** Command lines that start a process as an unprivileged user with a view of its own. */
import { join } from 'node:path';
import type { ViewOperation } from '#api/embedded/file-view.ts';
import type { ProcessUser } from '#api/embedded/process-users.ts';

/** Lowest port that a process without privileges may bind. */
const FIRST_FREE_PORT = 1024;
const UNSHARE = ['/usr/bin/unshare', '--mount', '--propagation', 'slave', '--'];
const START = ['/bin/bash', join(import.meta.dirname, 'start-process.sh')];

export interface Identity {
  readonly user: ProcessUser;
  /** null: the machine allows no mounts, so the process sees every file that its user may read. */
  readonly view: readonly ViewOperation[] | null;
  /** Ports that the process binds. */
  readonly ports: readonly number[];
}

/** Returns the command line put before the process's own. Each command replaces itself with the next, so the process id stays. */
export function identityCommand({ user, view, ports }: Identity): string[] {
  const mounts = view ?? [];
  return [...(view === null ? [] : UNSHARE), ...START, ...mounts.flat(), '--', ...userCommand(user, ports)];
}

/** Returns the setpriv command without capabilities, now or by executing another program, except the one for ports below 1024. */
function userCommand({ uid, gid, groups }: ProcessUser, ports: readonly number[]): string[] {
  const binds = ports.some((port) => port > 0 && port < FIRST_FREE_PORT);
  const further = groups.length === 0 ? ['--clear-groups'] : ['--groups', groups.join(',')];
  const capabilities = binds ? '-all,+net_bind_service' : '-all';
  return [
    '/usr/bin/setpriv',
    '--reuid',
    String(uid),
    '--regid',
    String(gid),
    ...further,
    '--bounding-set',
    capabilities,
    '--inh-caps',
    capabilities,
    ...(binds ? ['--ambient-caps', '+net_bind_service'] : []),
    '--no-new-privs',
    '--',
  ];
}
