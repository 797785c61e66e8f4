/** Confinement without a mount namespace: a program applies Landlock and seccomp, then executes the engine process. */
import { join, resolve } from 'node:path';
import { programFolders } from '#worker-image/tools/bubblewrap.ts';
import { visibleFiles } from '#worker-image/tools/visible-files.ts';

const PROGRAM = join(import.meta.dirname, 'confine.py');
/** Python that ignores environment variables and packages. */
export const PYTHON = ['/usr/bin/python3', '-I', '-S'];
const DEVICES = ['/dev/null', '/dev/zero', '/dev/full', '/dev/random', '/dev/urandom'];
/** Readable entries of a `/proc` that shows other processes too. */
const SHARED_PROC_ENTRIES = ['cpuinfo', 'meminfo', 'stat', 'filesystems', 'self', 'sys/vm', 'sys/kernel/random'];

interface LandlockOptions {
  /** The only folder that the process may write to. */
  readonly folder: string;
  /** Descriptor of a seccomp filter; null: none. */
  readonly filter: number | null;
  /** True when `/proc` shows the processes of its namespace alone. */
  readonly ownProc: boolean;
  /** True to continue where the kernel lacks Landlock or seccomp. */
  readonly lenient: boolean;
}

/** Returns the prefix of an engine process's command line. */
export function landlock({ folder, filter, ownProc, lenient }: LandlockOptions): string[] {
  const proc = ownProc ? ['/proc'] : SHARED_PROC_ENTRIES.map((name) => join('/proc', name));
  return [
    ...PYTHON,
    PROGRAM,
    ...[...programFolders(), ...visibleFiles(), ...proc].flatMap((path) => ['--read', path]),
    ...DEVICES.flatMap((path) => ['--device', path]),
    '--write',
    resolve(folder),
    ...(filter === null ? [] : ['--seccomp', String(filter)]),
    ...(lenient ? ['--lenient'] : []),
    '--',
  ];
}
