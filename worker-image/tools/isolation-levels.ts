/** Isolation levels of an engine process, the strongest first. Each has to pass a trial: `isolation-trial.ts`. */
import { bubblewrapPrefix } from '#worker-image/tools/bubblewrap.ts';
import { landlock } from '#worker-image/tools/landlock.ts';

interface PrefixInput {
  /** The only folder that the process may write to. */
  readonly folder: string;
  /** Descriptor of a seccomp filter; null: none. */
  readonly filter: number | null;
}

export interface IsolationLevel {
  readonly name: string;
  /** True when the process has a process namespace, so that its whole tree dies with it. */
  readonly ownsProcesses: boolean;
  /** True when `/tmp` and `/dev/shm` are the process's own. */
  readonly ownsMemory: boolean;
  /** One sentence for the log. */
  readonly summary: string;
  /** Returns the prefix of an engine process's command line. */
  readonly prefix: (input: PrefixInput) => string[];
}

const NAMESPACES = ['--net', '--ipc', '--pid', '--fork', '--kill-child=KILL'];

export const LEVELS = [
  {
    name: 'bubblewrap',
    ownsProcesses: true,
    ownsMemory: true,
    summary: 'engine processes have their own namespaces, see only their own files and may make few system calls',
    prefix: ({ folder, filter }) => [...unshare(NAMESPACES), ...bubblewrapPrefix(folder, filter)],
  },
  {
    name: 'namespaces',
    ownsProcesses: true,
    ownsMemory: false,
    summary: 'engine processes have their own namespaces, open only their own files and may make few system calls',
    prefix: (input) => [
      ...unshare([...NAMESPACES, '--mount-proc']),
      ...landlock({ ...input, ownProc: true, lenient: false }),
    ],
  },
  {
    // A container masks parts of `/proc`, and then the kernel allows no other mount of it.
    name: 'namespaces-shared-proc',
    ownsProcesses: true,
    ownsMemory: false,
    summary:
      'engine processes have most namespaces of their own, open only their own files and may make few system calls',
    prefix: (input) => [...unshare(NAMESPACES), ...landlock({ ...input, ownProc: false, lenient: false })],
  },
  {
    name: 'landlock',
    ownsProcesses: false,
    ownsMemory: false,
    summary: 'engine processes open only their own files and may make few system calls, but have no namespaces',
    prefix: (input) => landlock({ ...input, ownProc: false, lenient: false }),
  },
] as const satisfies readonly IsolationLevel[];

/** Returns the prefix that all levels with namespaces begin with: where it starts nothing, none of them does. */
export function namespacePrefix(): string[] {
  return unshare(NAMESPACES);
}

/** As much of Landlock and seccomp as the kernel supports, for a pod or where the operator accepts no isolation. */
export const PARTIAL: IsolationLevel = {
  name: 'partial',
  ownsProcesses: false,
  ownsMemory: false,
  summary: '',
  prefix: (input) => landlock({ ...input, ownProc: false, lenient: true }),
};

/** Returns the command line of unshare, with a user namespace unless this process is root. */
function unshare(options: readonly string[]): string[] {
  const user = process.getuid?.() === 0 ? [] : ['--user', '--map-current-user'];
  return ['unshare', ...user, ...options, '--'];
}
