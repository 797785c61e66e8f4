/** Invariant decoders-isolated: processes that decode files have no connection and open only files of their own root directory. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { processesOf, type ProcessRole } from '#test/support/service-processes.ts';

export interface IsolationWatch {
  /** One sentence each. */
  readonly problems: string[];
  /** Returns the number of observed processes so far. */
  observations(): number;
  stop(): void;
}

const DECODERS: readonly ProcessRole[] = ['engine child', 'tool'];
const PROTOCOLS = ['tcp', 'tcp6', 'udp', 'udp6'];
const EVERY_MS = 250;
/** The seccomp program, which bubblewrap reads after it has entered its root and before it starts the decoder. */
const SECCOMP_PROGRAM = /\/filter-[^/]+\/filter$/;

/** Observes decoding processes periodically. `data`: the service's folder. */
export function watchIsolation(data: string): IsolationWatch {
  const problems: string[] = [];
  let observations = 0;
  const timer = setInterval(() => {
    for (const { pid, role, command } of processesOf(data).filter((one) => DECODERS.includes(one.role))) {
      const open = openFiles(pid);
      observations += 1;
      const files = command.startsWith('bwrap ') ? open.filter((file) => !SECCOMP_PROGRAM.test(file)) : open;
      for (const wrong of [...sockets(pid, open), ...strangeFiles({ pid, data }, files)])
        problems.push(`${role} ${command.slice(0, 60)} ${wrong}`);
    }
  }, EVERY_MS).unref();
  return { problems, observations: () => observations, stop: () => clearInterval(timer) };
}

/** Returns the targets of its descriptors; none when it has ended. */
function openFiles(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => linkOf(`/proc/${pid}/fd/${fd}`) ?? []);
  } catch {
    return [];
  }
}

function sockets(pid: number, open: readonly string[]): string[] {
  const own = open.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []);
  return PROTOCOLS.flatMap((protocol) =>
    rowsOf(pid, protocol)
      .filter((row) => own.includes(row[9] ?? ''))
      .map((row) => `has a ${protocol} socket to ${row[2]}`),
  );
}

function rowsOf(pid: number, protocol: string): string[][] {
  try {
    const [, ...rows] = readFileSync(`/proc/${pid}/net/${protocol}`, 'utf8').trim().split('\n');
    return rows.map((row) => row.trim().split(/\s+/));
  } catch {
    return [];
  }
}

/** Returns open files of the service outside of the process's own root directory; all of them when that is unknown. */
function strangeFiles({ pid, data }: { pid: number; data: string }, open: readonly string[]): string[] {
  const folder = linkOf(`/proc/${pid}/cwd`);
  // It has ended since.
  if (folder === null) return [];
  const own = rootOf(folder);
  const isOwn = (file: string): boolean => own !== null && `${file}${path.sep}`.startsWith(`${own}${path.sep}`);
  return open
    .filter((file) => file.startsWith(`${data}${path.sep}`) && !file.startsWith(path.join(data, 'log')) && !isOwn(file))
    .map((file) => `has ${file} open`);
}

/** Returns the root directory of an engine process, or the folder of a run. */
function rootOf(folder: string): string | null {
  return /^.*?\/(?:work-[^/]+|runs\/[^/]+)/.exec(folder)?.[0] ?? null;
}

/** Returns the target of a link, also when it was removed meanwhile. */
function linkOf(link: string): string | null {
  try {
    return readlinkSync(link).replace(/ \(deleted\)$/, '');
  } catch {
    return null;
  }
}
