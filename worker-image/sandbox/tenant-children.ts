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
  /** Time that an idle process is kept for its tenant, in milliseconds; default: 5 seconds. */
  readonly idleMs?: number;
  /** Script to run; default: the engine's own. */
  readonly script?: string;
}

/** Process that is acquired for one file of a tenant. */
export interface TenantChild {
  readonly engine: SandboxedEngine;
  /** Releases the process after its file. `isGood`: the file succeeded without a warning. */
  release(isGood: boolean): void;
}

interface IdleEngine {
  readonly engine: SandboxedEngine;
  readonly tenant: string;
  readonly timer: NodeJS.Timeout;
}

/** Resident memory above which a process is replaced after its file, in bytes. */
const MAX_RSS_BYTES = 512 * 1024 ** 2;
/** Default of `idleMs`: repeat requests usually arrive within it. */
const IDLE_MS = 5000;

/** Starts with one fresh process, so that the first file does not wait for a start. */
export class TenantChildren {
  readonly #options: ChildrenOptions;
  readonly #alive = new Set<SandboxedEngine>();
  /** Idle processes; the one that is idle longest is first. */
  readonly #idle: IdleEngine[] = [];
  #fresh: SandboxedEngine | null = null;
  /** Number of processes that are acquired. */
  #acquired = 0;
  #isClosed = false;

  constructor(options: ChildrenOptions) {
    this.#options = options;
    this.#keepReady();
  }

  /** Announces the kind of the next file to the fresh process. */
  expect(kind: Kind): void {
    this.#fresh?.expect(kind);
  }

  /** Acquires a process for one file of the tenant: an idle one of that tenant, else one that has opened nothing. */
  acquire(tenant: string | null): TenantChild {
    const own = tenant === null ? null : this.#removeIdle((one) => one.tenant === tenant && !one.engine.isBreached());
    this.#acquired += 1;
    const engine = own ?? this.#takeFresh();
    this.#keepReady();
    return { engine, release: (isGood) => this.#release(engine, isGood ? tenant : null) };
  }

  /** Ends all processes. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { timer } of this.#idle) clearTimeout(timer);
    await Promise.all([...this.#alive].map((engine) => engine.kill()));
  }

  /** Keeps the process for the tenant's next file if it is usable; null: ends it. */
  #release(engine: SandboxedEngine, tenant: string | null): void {
    this.#acquired -= 1;
    if (tenant !== null && this.#isUsable(engine)) this.#keepIdle(engine, tenant);
    else void engine.kill();
    this.#keepReady();
  }

  #isUsable(engine: SandboxedEngine): boolean {
    return (
      !this.#isClosed &&
      this.#alive.has(engine) &&
      !engine.isBreached() &&
      engine.files() < this.#options.filesPerChild &&
      engine.rssBytes() <= MAX_RSS_BYTES
    );
  }

  #keepIdle(engine: SandboxedEngine, tenant: string): void {
    const one = { engine, tenant, timer: setTimeout(() => this.#endIdle(one), this.#options.idleMs ?? IDLE_MS) };
    one.timer.unref();
    this.#idle.push(one);
  }

  #endIdle(one: IdleEngine | undefined): void {
    if (one !== undefined) void this.#removeIdle((other) => other === one)?.kill();
  }

  #removeIdle(matches: (one: IdleEngine) => boolean): SandboxedEngine | null {
    const at = this.#idle.findLastIndex(matches);
    const [found] = at < 0 ? [] : this.#idle.splice(at, 1);
    clearTimeout(found?.timer);
    return found?.engine ?? null;
  }

  /** Keeps a fresh process while a slot is free, and ends the oldest idle processes above the maximum. */
  #keepReady(): void {
    const { children } = this.#options;
    if (!this.#isClosed && this.#fresh === null && this.#acquired < children) this.#fresh = this.#start();
    const maxIdle = children + 1 - this.#acquired - (this.#fresh === null ? 0 : 1);
    for (let surplus = this.#idle.length - maxIdle; surplus > 0; surplus -= 1) this.#endIdle(this.#idle[0]);
  }

  #takeFresh(): SandboxedEngine {
    const engine = this.#fresh ?? this.#start();
    this.#fresh = null;
    return engine;
  }

  #start(): SandboxedEngine {
    const { log, isolation, directory, script } = this.#options;
    const engine = new SandboxedEngine(
      { log },
      { isolation, folder: directory, ...(script === undefined ? {} : { script }) },
    );
    this.#alive.add(engine);
    void engine.ended.then(() => {
      this.#alive.delete(engine);
      if (this.#fresh === engine) this.#fresh = null;
      this.#removeIdle((one) => one.engine === engine);
    });
    return engine;
  }
}
