/** I11: what decodes files holds no connection, and of the service's folder it opens nothing but its own place. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { processesOf, type Role } from '#test/support/service-processes.ts';

export interface WallWatch {
  /** One sentence each. */
  readonly problems: string[];
  /** Looks at processes so far. */
  looks(): number;
  stop(): void;
}

const DECODERS: readonly Role[] = ['engine child', 'tool'];
const PROTOCOLS = ['tcp', 'tcp6', 'udp', 'udp6'];
const EVERY_MS = 250;

/** Looks again and again. `data`: the service's folder. */
export function watchWalls(data: string): WallWatch {
  const problems: string[] = [];
  let looks = 0;
  const timer = setInterval(() => {
    for (const { pid, role, command } of processesOf(data).filter((one) => DECODERS.includes(one.role))) {
      const open = openFiles(pid);
      looks += 1;
      for (const wrong of [...sockets(pid, open), ...strangeFiles({ pid, data }, open)])
        problems.push(`${role} ${command.slice(0, 60)} ${wrong}`);
    }
  }, EVERY_MS).unref();
  return { problems, looks: () => looks, stop: () => clearInterval(timer) };
}

/** What its descriptors point to; empty when it is gone. */
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

/** Files of the service that are in no place of its own. A process whose place is not known opens none of them. */
function strangeFiles({ pid, data }: { pid: number; data: string }, open: readonly string[]): string[] {
  const folder = linkOf(`/proc/${pid}/cwd`);
  // It has ended since.
  if (folder === null) return [];
  const own = placeOf(folder);
  const isOwn = (file: string): boolean => own !== null && `${file}${path.sep}`.startsWith(`${own}${path.sep}`);
  return open
    .filter((file) => file.startsWith(`${data}${path.sep}`) && !file.startsWith(path.join(data, 'log')) && !isOwn(file))
    .map((file) => `has ${file} open`);
}

/** The home of an engine process, or the folder of a run. */
function placeOf(folder: string): string | null {
  return /^.*?\/(?:home-[^/]+|runs\/[^/]+)/.exec(folder)?.[0] ?? null;
}

/** The path also of what was removed meanwhile. */
function linkOf(link: string): string | null {
  try {
    return readlinkSync(link).replace(/ \(deleted\)$/, '');
  } catch {
    return null;
  }
}
