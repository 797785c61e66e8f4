/** A peer that is a server: a process that listens on a port of its own until it is stopped. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '#api/embedded/free-ports.ts';
import { treeOf } from './process-memory.ts';

export interface ServerProcess {
  /** It and all that it has started. */
  readonly pids: () => readonly number[];
  readonly stop: () => Promise<void>;
}

interface Program {
  readonly who: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Rejects, or returns false, until it listens. */
  readonly isUp: () => Promise<boolean>;
}

// On a busy machine LibreOffice alone took 20 seconds.
const START_MS = 120_000;
const STOP_MS = 5000;
const LOOK_EVERY_MS = 50;

/** Resolves once it listens. @throws Error when it does not; no process of it runs then. */
export async function startServerProcess({ who, file, args, env = {}, isUp }: Program): Promise<ServerProcess> {
  const child = spawn(file, args, { stdio: 'ignore', env: { ...process.env, ...env } });
  const ended = once(child, 'exit');
  // A program that is not there shows as one that has ended.
  ended.catch(() => undefined);
  const pids = (): readonly number[] => treeOf(child.pid ?? 0);
  const stop = async (): Promise<void> => {
    const tree = pids();
    for (const pid of tree.toReversed()) process.kill(pid, 'SIGTERM');
    const hangs = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(hangs);
    // A LibreOffice survives its server.
    for (const pid of tree) endIfRunning(pid);
  };
  const giveUpAt = performance.now() + START_MS;
  while (!(await isUp().catch(() => false))) {
    if (child.exitCode !== null) throw new Error(`${who} ended with ${child.exitCode} instead of listening`);
    if (performance.now() > giveUpAt) {
      await stop();
      throw new Error(`${who} does not start`);
    }
    await delay(LOOK_EVERY_MS);
  }
  return { pids, stop };
}

function endIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}
