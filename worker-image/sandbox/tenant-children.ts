/**
 * Assigns engine processes to files. A process that has opened a file of one tenant never opens another's, and one
 * whose file was refused or had a warning opens no other file.
 *
 *   fresh ─→ running ─→ idle, for its tenant ─→ running …
 *                ╲              ╲→ ended: another process needs its slot, or the idle time is over
 *                 ╲→ ended: refused file, warning, file without a tenant, after N files, too much memory
 */
import type { Kind } from '#crds/catalogue/formats.ts';
import type { Log } from '#crds/process/log.ts';
import { SandboxedEngine } from '#worker-image/sandbox/sandboxed-engine.ts';
import type { Isolation } from '#worker-image/tools/isolation.ts';

export interface ChildrenOptions {
  readonly log: Pick<Log, 'warn'>;
  readonly isolation: Isolation;
  /** Private folder for the root directories of the processes, on the file system of the tasks' directories. */
  readonly directory: string;
  /** Maximum number of processes that run files at once. At most one more is kept. */
  readonly children: number;
  /** Files of one tenant that one process opens before it is replaced. */
  readonly filesPerChild: number;
  /** Script to run; default: the engine's own. */
  readonly script?: string;
}

export interface TenantChildren {
  /** Announces the kind of the next file to the fresh process. */
  expect(kind: Kind): void;
  /** Returns a process for one file of the tenant: an idle one of that tenant, else one that has opened nothing. */
  acquire(tenant: string | null): SandboxedEngine;
  /** Releases a process after its file. `isGood`: the file succeeded without a warning. */
  release(child: SandboxedEngine, file: { tenant: string | null; isGood: boolean }): void;
  /** Returns the number of processes that are acquired. */
  readonly busy: () => number;
  /** Ends all processes. */
  close(): Promise<void>;
}

interface Idle {
  readonly child: SandboxedEngine;
  readonly tenant: string;
  readonly timer: NodeJS.Timeout;
}

/** Resident memory above which a process is replaced after its file, in bytes. */
const MAX_RSS_BYTES = 512 * 1024 ** 2;
/** Time that an idle process is kept, in milliseconds: repeat requests usually arrive within it. */
const IDLE_MS = 5000;

/** Starts with one fresh process, so that the first file does not wait for a start. */
export function startTenantChildren(options: ChildrenOptions): TenantChildren {
  const alive = new Set<SandboxedEngine>();
  /** Idle processes; the one that is idle longest is first. */
  const idle: Idle[] = [];
  let fresh: SandboxedEngine | null = null;
  let busy = 0;
  let isClosed = false;

  const start = (): SandboxedEngine => {
    const { log, isolation, directory, script } = options;
    const child = new SandboxedEngine(
      { log },
      { isolation, folder: directory, ...(script === undefined ? {} : { script }) },
    );
    alive.add(child);
    void child.ended.then(() => {
      alive.delete(child);
      if (fresh === child) fresh = null;
      removeIdle((one) => one.child === child);
    });
    return child;
  };
  const removeIdle = (matches: (one: Idle) => boolean): SandboxedEngine | null => {
    const at = idle.findLastIndex(matches);
    const [found] = at < 0 ? [] : idle.splice(at, 1);
    clearTimeout(found?.timer);
    return found?.child ?? null;
  };
  const endIdle = (one: Idle | undefined): void => {
    if (one !== undefined) void removeIdle((other) => other === one)?.kill();
  };
  /** Keeps a fresh process while a slot is free, and ends the oldest idle processes above the maximum. */
  const keepReady = (): void => {
    if (!isClosed && fresh === null && busy < options.children) fresh = start();
    const maxIdle = options.children + 1 - busy - (fresh === null ? 0 : 1);
    for (let surplus = idle.length - maxIdle; surplus > 0; surplus -= 1) endIdle(idle[0]);
  };
  const keepIdle = (child: SandboxedEngine, tenant: string): void => {
    const one = { child, tenant, timer: setTimeout(() => endIdle(one), IDLE_MS) };
    one.timer.unref();
    idle.push(one);
  };
  const isUsable = (child: SandboxedEngine): boolean =>
    !isClosed &&
    alive.has(child) &&
    !child.isBreached() &&
    child.files() < options.filesPerChild &&
    child.rssBytes() <= MAX_RSS_BYTES;
  const acquireFresh = (): SandboxedEngine => {
    const child = fresh ?? start();
    fresh = null;
    return child;
  };
  keepReady();
  return {
    expect: (kind) => fresh?.expect(kind),
    acquire: (tenant) => {
      const own = tenant === null ? null : removeIdle((one) => one.tenant === tenant && !one.child.isBreached());
      busy += 1;
      const child = own ?? acquireFresh();
      keepReady();
      return child;
    },
    release: (child, { tenant, isGood }) => {
      busy -= 1;
      if (tenant !== null && isGood && isUsable(child)) keepIdle(child, tenant);
      else void child.kill();
      keepReady();
    },
    busy: () => busy,
    close: async () => {
      isClosed = true;
      for (const { timer } of idle) clearTimeout(timer);
      await Promise.all([...alive].map((child) => child.kill()));
    },
  };
}
