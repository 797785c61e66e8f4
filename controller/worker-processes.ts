/**
 * Worker processes of this machine. Each runs one attempt at a time. With `ready` processes that wait for a run, no run
 * waits for the start of a process, and a process runs up to `RUNS_PER_PROCESS` attempts; without them each attempt has
 * a new process.
 *
 *   starting ─→ idle ─→ running ─→ idle …
 *                ╲         ╲→ ended: attempt without an outcome, or after `RUNS_PER_PROCESS` attempts
 *                 ╲→ ended: more than `ready` were idle for `IDLE_MS`
 */
import { join } from 'node:path';
import { backoffMs } from '#crds/process/backoff.ts';
import type { Log } from '#crds/process/log.ts';
import { LocalProcess } from '#controller/local-process.ts';
import type { Exit } from '#controller/out-of-memory.ts';
import type { LocalProcessOptions } from '#controller/spawn-worker.ts';

export interface WorkerProcessesOptions extends LocalProcessOptions {
  /** Private folder of the processes' directories. Everything else in it is deleted at start. */
  readonly directory: string;
  /** Number of runs at once; one more for an account that has none running. A ready process is kept while fewer exist. */
  readonly concurrency: number;
  /** Number of idle processes that wait for a run; default 0. */
  readonly ready?: number;
  /** Resolves when processes may be started ahead; default: at once. */
  readonly mayStart?: Promise<unknown>;
}

/** Number of runs after which a process is replaced, so that memory it leaks is returned. */
const RUNS_PER_PROCESS = 64;
/** Minimum time for which more idle processes than `ready` are kept, in milliseconds: starting one takes processor time from a job. */
const IDLE_MS = 60_000;

/** Delay before a process is started ahead after one that has ended without a run. */
const RESTART = { firstMs: 100, maxMs: 30_000 } as const;

interface IdleProcess {
  readonly process: LocalProcess;
  readonly sinceMs: number;
}

export class WorkerProcesses {
  readonly #log: Log;
  readonly #options: WorkerProcessesOptions;
  readonly #ready: number;
  /** The one that is idle longest is first. */
  #idle: IdleProcess[] = [];
  readonly #alive = new Set<Promise<LocalProcess>>();
  /** Number of processes that are being started ahead. */
  #starting = 0;
  #started = 0;
  /** Number of processes that have ended without a run, without one that worked between. */
  #failures = 0;
  /** Time before which no process is started ahead, in milliseconds of `performance.now()`. */
  #nextStartMs = 0;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor({ log }: { log: Log }, options: WorkerProcessesOptions) {
    this.#log = log;
    this.#options = options;
    this.#ready = options.ready ?? 0;
    void Promise.resolve(options.mayStart).then(() => this.#keepReady());
  }

  /**
   * Returns a process for one run: the one that was idle last, of those whose last run was of the tenant if there are
   * any, or a new one. @throws Error when none can be started.
   */
  async acquire(tenant: string): Promise<LocalProcess> {
    const found = this.#takeIdle(tenant);
    const acquired = found ?? (await this.#start());
    this.#keepReady();
    return acquired;
  }

  /** Keeps the process for another run if it is usable; otherwise ends it. Resolves when its files are deleted. */
  async release(released: LocalProcess): Promise<void> {
    if (released.isUsable()) this.#failures = 0;
    const isKept = !this.#isClosed && this.#ready > 0 && released.isUsable() && released.runs() < RUNS_PER_PROCESS;
    if (isKept) this.#keepIdle(released);
    else await this.#end(released);
    this.#keepReady();
  }

  /** Ends all processes and starts no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await Promise.all([...this.#alive].map(async (starting) => (await starting.catch(() => null))?.close()));
  }

  #takeIdle(tenant: string): LocalProcess | null {
    const usable = this.#idle.filter(({ process }) => process.isUsable());
    const ended = this.#idle.filter(({ process }) => !process.isUsable());
    for (const { process } of ended) void this.#end(process);
    const own = usable.findLastIndex(({ process }) => process.tenant() === tenant);
    // Without one of the tenant, -1 stands for the last.
    const [taken] = usable.splice(own, 1);
    this.#idle = usable;
    return taken?.process ?? null;
  }

  #keepIdle(process: LocalProcess): void {
    this.#idle.push({ process, sinceMs: performance.now() });
    this.#timer ??= setTimeout(() => this.#endSurplus(), IDLE_MS).unref();
  }

  #endSurplus(): void {
    this.#timer = undefined;
    const surplus = Math.max(0, this.#idle.length - this.#ready);
    const dueAt = performance.now() - IDLE_MS;
    const due = this.#idle.slice(0, surplus).filter(({ sinceMs }) => sinceMs <= dueAt);
    this.#idle = this.#idle.slice(due.length);
    for (const { process } of due) void this.#end(process);
    if (due.length < surplus) this.#timer = setTimeout(() => this.#endSurplus(), IDLE_MS).unref();
  }

  #end(process: LocalProcess): Promise<void> {
    return process.close().catch((error: unknown) => this.#log.error({ err: error }, 'worker process not cleaned up'));
  }

  /** Starts processes ahead while fewer are ready and a slot is free for them. */
  #keepReady(): void {
    const { concurrency } = this.#options;
    if (performance.now() < this.#nextStartMs) return;
    while (!this.#isClosed && this.#idle.length + this.#starting < this.#ready && this.#alive.size < concurrency) {
      this.#starting += 1;
      void this.#start()
        .then(
          (process) => this.#addReady(process),
          (error: unknown) => this.#log.error({ err: error }, 'worker process not started'),
        )
        .finally(() => {
          this.#starting -= 1;
        });
    }
  }

  #addReady(process: LocalProcess): void {
    if (this.#isClosed) void this.#end(process);
    else this.#keepIdle(process);
  }

  /** Replaces a process that has ended while it was idle: one that cannot start later each time. */
  #replace(ended: LocalProcess, exit: Exit): void {
    const left = this.#idle.filter(({ process }) => process !== ended);
    if (left.length === this.#idle.length) return;
    this.#idle = left;
    this.#log.warn({ ...exit, stderr: ended.takeStderr() }, 'idle worker process ended');
    const delayMs = ended.runs() > 0 ? 0 : backoffMs(RESTART, this.#failures);
    if (ended.runs() === 0) this.#failures += 1;
    this.#nextStartMs = performance.now() + delayMs;
    void this.#end(ended).then(() => setTimeout(() => this.#keepReady(), delayMs + 1).unref());
  }

  async #start(): Promise<LocalProcess> {
    this.#started += 1;
    const starting = LocalProcess.start(this.#options, join(this.#options.directory, `worker-${this.#started}`));
    this.#alive.add(starting);
    const forget = (): void => void this.#alive.delete(starting);
    const watch = async (): Promise<void> => {
      const process = await starting;
      const exit = await process.exited;
      forget();
      this.#replace(process, exit);
    };
    watch().catch(forget);
    return starting;
  }
}
