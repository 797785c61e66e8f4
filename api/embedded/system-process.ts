/**
 * Programs of the system as child processes, such as PostgreSQL and Redis: as an unprivileged user, with their output by
 * line, and ended by the kernel when this process dies.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { SystemUser } from '#api/embedded/system-user.ts';

interface SystemCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** null: the caller's user. */
  readonly user: SystemUser | null;
  /** Signal that the kernel sends to it when this process dies. */
  readonly deathSignal: 'TERM' | 'INT' | 'KILL';
  /** Descriptors that the process inherits from number 3 on: `/proc/self/fd/3` is readable whatever the modes of its parents. */
  readonly open?: readonly number[];
  /** Called with each line of standard output and standard error. */
  readonly onLine: (line: string) => void;
}

export interface SystemProcess {
  readonly pid: number;
  /** Resolves with how it ended, such as `exit code 1` or `signal SIGKILL`. */
  readonly ended: Promise<string>;
  /** Sends the signal, then SIGKILL after the grace period, and waits for the end. Idempotent. */
  stop(signal: NodeJS.Signals, graceMs: number): Promise<void>;
}

const NO_PRIVILEGES = ['--bounding-set', '-all', '--inh-caps', '-all', '--no-new-privs'];

/** Starts the program. @throws Error when it cannot be started. */
export async function startSystemProcess(command: SystemCommand): Promise<SystemProcess> {
  const { user, open = [] } = command;
  const identity = user === null ? [] : [...asUser(user), ...NO_PRIVILEGES];
  const child = spawn('setpriv', [...identity, '--pdeathsig', command.deathSignal, command.file, ...command.args], {
    cwd: '/',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', HOME: '/' },
    stdio: ['ignore', 'pipe', 'pipe', ...open],
    // Its own process group: Ctrl-C would reach the whole terminal group, but the supervisor decides the order of the stop.
    detached: true,
  });
  const ended = once(child, 'exit').then(([code, signal]) =>
    code === null ? `signal ${String(signal)}` : `exit code ${String(code)}`,
  );
  // When the spawn fails, `ended` rejects too, and nobody has it yet.
  ended.catch(() => undefined);
  await once(child, 'spawn');
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface({ input: stream }).on('line', command.onLine);
  }
  return {
    pid: child.pid as number,
    ended,
    stop: async (signal, graceMs) => {
      child.kill(signal);
      const kill = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await ended;
      clearTimeout(kill);
    },
  };
}

function asUser({ uid, gid }: SystemUser): string[] {
  return ['--reuid', String(uid), '--regid', String(gid), '--init-groups'];
}

/** Waits until the process is ready. Returns null then, or how it ended before. */
export async function readyOrEnded(ready: Promise<void>, started: SystemProcess): Promise<string | null> {
  return Promise.race([ready.then(() => null), started.ended]);
}
