/**
 * Which engine process takes a file. One that has opened a file of one tenant never opens another's; what a
 * damaged or odd file may have done to a process ends with that file.
 *
 *   fresh ─→ at work ─→ idle, its tenant's ─→ at work …
 *                ╲              ╲→ ended: its room is needed, or nobody came
 *                 ╲→ ended: refused file, warning, file without a tenant, after N files, grown too large
 */
import type { Kind } from '#crds/formats.ts';
import { startChildAtHome } from '#worker-image/engine/child-at-home.ts';
import type { EngineChild } from '#worker-image/engine/engine-child.ts';
import type { Isolation } from '#worker-image/tools/isolation.ts';

export interface ChildrenOptions {
  readonly isolation: Isolation;
  /** Private, for the homes of the processes; on the file system of the tasks' directories. */
  readonly directory: string;
  /** Processes at work at once. One more is kept at most. */
  readonly children: number;
  /** Files of one tenant that one process works on before it is replaced. */
  readonly filesPerChild: number;
}

export interface TenantChildren {
  /** Tells the fresh process that stands by what kind of file is on its way. */
  expect(kind: Kind): void;
  /** A process for one file of the tenant: one of its own that is idle, else one that has opened nothing. */
  take(tenant: string | null): EngineChild;
  /** After the file. `isGood`: the file was worked on, and nothing was odd about it. */
  giveBack(child: EngineChild, file: { tenant: string | null; isGood: boolean }): void;
  /** Taken and not yet given back. */
  readonly busy: () => number;
  /** Ends all processes. */
  close(): Promise<void>;
}

interface Idle {
  readonly child: EngineChild;
  readonly tenant: string;
  readonly timer: NodeJS.Timeout;
}

/** A process that has grown over this is replaced after its file. */
const MAX_RSS_BYTES = 512 * 1024 ** 2;
/** Callers who come back come back sooner; till then the process holds memory. */
const IDLE_MS = 5000;

/** Starts with one fresh process, so that a file never waits for a start. */
export function startTenantChildren(options: ChildrenOptions): TenantChildren {
  const alive = new Set<EngineChild>();
  /** The one that has waited longest is first. */
  const idle: Idle[] = [];
  let fresh: EngineChild | null = null;
  let busy = 0;
  let isClosed = false;

  const start = (): EngineChild => {
    const child = startChildAtHome(options.isolation, options.directory);
    alive.add(child);
    void child.ended.then(() => {
      alive.delete(child);
      if (fresh === child) fresh = null;
      leaveIdle((one) => one.child === child);
    });
    return child;
  };
  const leaveIdle = (isMeant: (one: Idle) => boolean): EngineChild | null => {
    const at = idle.findLastIndex(isMeant);
    const [found] = at < 0 ? [] : idle.splice(at, 1);
    clearTimeout(found?.timer);
    return found?.child ?? null;
  };
  const endIdle = (one: Idle | undefined): void => {
    if (one !== undefined) void leaveIdle((other) => other === one)?.kill();
  };
  /** A fresh process stands by whenever a file may come; idle ones make room for it. */
  const keepReady = (): void => {
    if (!isClosed && fresh === null && busy < options.children) fresh = start();
    const room = options.children + 1 - busy - (fresh === null ? 0 : 1);
    for (let surplus = idle.length - room; surplus > 0; surplus -= 1) endIdle(idle[0]);
  };
  const rest = (child: EngineChild, tenant: string): void => {
    const one = { child, tenant, timer: setTimeout(() => endIdle(one), IDLE_MS) };
    one.timer.unref();
    idle.push(one);
  };
  const isUsable = (child: EngineChild): boolean =>
    !isClosed && alive.has(child) && child.files() < options.filesPerChild && child.rssBytes() <= MAX_RSS_BYTES;
  const takeFresh = (): EngineChild => {
    const child = fresh ?? start();
    fresh = null;
    return child;
  };
  keepReady();
  return {
    expect: (kind) => fresh?.expect(kind),
    take: (tenant) => {
      const own = tenant === null ? null : leaveIdle((one) => one.tenant === tenant);
      busy += 1;
      const child = own ?? takeFresh();
      keepReady();
      return child;
    },
    giveBack: (child, { tenant, isGood }) => {
      busy -= 1;
      if (tenant !== null && isGood && isUsable(child)) rest(child, tenant);
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
