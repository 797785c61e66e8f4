/**
 * PostgreSQL and Redis as child processes: with an unprivileged user, their output line by line, and a
 * signal from the kernel when this process dies in any way.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { SystemUser } from '#api/embedded/system-user.ts';

interface SystemCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** null: as the caller. */
  readonly user: SystemUser | null;
  /** What the kernel sends when this process dies. */
  readonly deathSignal: 'TERM' | 'INT' | 'KILL';
  /** Open folder that the process sees as `/proc/self/fd/3`, whatever the rights of the folders above it. */
  readonly folder?: number;
  /** Called with each line of standard output and standard error. */
  readonly onLine: (line: string) => void;
}

export interface SystemProcess {
  readonly pid: number;
  /** Resolves with the way it ended, such as `exit code 1` or `signal SIGKILL`. */
  readonly ended: Promise<string>;
  /** Sends the signal, SIGKILL after the grace, and waits for the end. May be called when it has ended. */
  stop(signal: NodeJS.Signals, graceMs: number): Promise<void>;
}

/** @throws when the file cannot be started. */
export async function startSystemProcess(command: SystemCommand): Promise<SystemProcess> {
  const { user, folder } = command;
  const identity = user === null ? [] : ['--reuid', String(user.uid), '--regid', String(user.gid), '--init-groups'];
  const child = spawn('setpriv', [...identity, '--pdeathsig', command.deathSignal, command.file, ...command.args], {
    cwd: '/',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', HOME: '/' },
    stdio: ['ignore', 'pipe', 'pipe', folder ?? 'ignore'],
    // Ctrl-C reaches the whole terminal group: the supervisor alone decides when its servers stop.
    detached: true,
  });
  const ended = once(child, 'exit').then(([code, signal]) =>
    code === null ? `signal ${String(signal)}` : `exit code ${String(code)}`,
  );
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface({ input: stream }).on('line', command.onLine);
  }
  await once(child, 'spawn');
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

/** Waits until the process says that it serves. Gives the way it ended when it ended before. */
export async function readyOrEnded(ready: Promise<void>, started: SystemProcess): Promise<string | null> {
  return Promise.race([ready.then(() => null), started.ended]);
}
