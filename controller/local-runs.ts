import { mkdir, readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#crds/process/clock.ts';
import { completeRunSpec, type RunSpec } from '#crds/contract/run-spec.ts';
import { tenantOf } from '#crds/contract/tenant.ts';
import type { Log } from '#crds/process/log.ts';
import type { LocalProcess, LocalRun } from '#controller/local-process.ts';
import { removeTree } from '#crds/process/private-files.ts';
import { killProcessesOf } from '#crds/process/process-tree.ts';
import { Watchers } from '#crds/process/watchers.ts';
import { RunPermits } from '#controller/run-permits.ts';
import type { PermitOwner } from '#controller/kind-permits.ts';
import { mediaJobOfRun, runName, type Run, type RunRequest, type Runs } from '#controller/runs.ts';
import { WorkerProcesses, type WorkerProcessesOptions } from '#controller/worker-processes.ts';

/** Attempt with its complete RunSpec. */
export interface LocalRunRequest extends Pick<RunRequest, 'owner' | 'attempt' | 'account'> {
  readonly spec: RunSpec;
}

interface LocalRunsDeps {
  readonly clock: Clock;
  readonly log: Log;
}

/** Number of runs above `concurrency`, for accounts that have none running. */
const EXTRA_PERMITS = 1;

interface Entry {
  readonly run: Run;
  /** Process of an unfinished run; null when the run has ended, because the process may have another run by then. */
  readonly process: Promise<LocalProcess> | null;
  /** Resolves when the run has ended and its permit is released; never rejects. */
  readonly over: Promise<void>;
}

/** Returns the runs of a folder. First ends the processes and deletes the files that a killed controller has left. */
export async function makeLocalRuns(deps: LocalRunsDeps, options: WorkerProcessesOptions): Promise<LocalRuns> {
  await sweep(deps, options.directory);
  return new LocalRuns(deps, options);
}

/** Runs as child processes on this machine, with bounded concurrency that is shared fairly between accounts. */
export class LocalRuns implements Omit<Runs, 'start'> {
  readonly #deps: LocalRunsDeps;
  readonly #processes: WorkerProcesses;
  readonly #permits: RunPermits;
  readonly #entries = new Map<string, Entry>();
  readonly #watchers = new Watchers<string>();

  constructor(deps: LocalRunsDeps, options: WorkerProcessesOptions) {
    this.#deps = deps;
    this.#processes = new WorkerProcesses(deps, options);
    const limits = { permits: options.concurrency, extra: EXTRA_PERMITS };
    this.#permits = new RunPermits({ nowMs: () => performance.now() }, limits);
  }

  async reserve(name: string, { account }: Pick<PermitOwner, 'account'>): Promise<boolean> {
    return this.#permits.acquire(name, account);
  }

  async start(request: LocalRunRequest): ReturnType<Runs['start']> {
    const run = newRun(this.#deps.clock, request);
    const found = this.#entries.get(run.name);
    if (found?.run.owner.uid === run.owner.uid) return 'exists';
    if (found !== undefined) throw new Error(`The run ${run.name} of an earlier MediaJob has not been released.`);
    if (!this.#permits.acquire(run.name, request.account)) return 'no-capacity';
    const tenant = tenantOf(request.account);
    const process = this.#processes.acquire(tenant);
    const started = { name: run.name, tenant, spec: request.spec };
    this.#entries.set(run.name, { run, process, over: this.#follow(run, process, started) });
    await process;
    return 'started';
  }

  async observe(mediaJobName: string): Promise<readonly Run[]> {
    return (await this.list()).filter(({ owner }) => owner.name === mediaJobName);
  }

  async list(): Promise<readonly Run[]> {
    return [...this.#entries.values()].map(({ run }) => run);
  }

  async stop(name: string): Promise<void> {
    const entry = this.#entries.get(name);
    if (entry === undefined) return this.#releasePermit(name);
    const process = await entry.process?.catch(() => null);
    process?.stop(name);
    await entry.over;
  }

  async release(mediaJobName: string): Promise<void> {
    const names = [...this.#entries.keys(), ...this.#permits.names()];
    const own = names.filter((name) => mediaJobOfRun(name) === mediaJobName);
    await Promise.all(own.map((name) => this.stop(name)));
    own.forEach((name) => this.#entries.delete(name));
  }

  watch(onChange: (mediaJobName: string) => void, signal: AbortSignal): void {
    this.#watchers.add(onChange, signal);
  }

  /** Stops every run and refuses further starts. */
  async close(): Promise<void> {
    this.#permits.close();
    await Promise.all([...this.#entries.keys()].map((name) => this.stop(name)));
    await this.#processes.close();
  }

  /** Runs the attempt and records its end, then releases its permit. */
  async #follow(run: Run, acquired: Promise<LocalProcess>, attempt: LocalRun): Promise<void> {
    const { log } = this.#deps;
    try {
      const { status, stderr } = await this.#runIn(await acquired, attempt);
      if (status.state === 'lost' && status.cause !== 'stopped')
        log.warn({ run: run.name, cause: status.cause, stderr }, 'run lost');
      this.#entries.set(run.name, { run: { ...run, status }, process: null, over: Promise.resolve() });
    } catch (error) {
      // `start` rejects with this error, and its caller may retry.
      log.error({ err: error, run: run.name }, 'run not started, or not cleaned up');
      this.#entries.delete(run.name);
    }
    this.#releasePermit(run.name);
  }

  async #runIn(process: LocalProcess, attempt: LocalRun): ReturnType<LocalProcess['run']> {
    try {
      return await process.run(this.#deps, attempt);
    } finally {
      await this.#processes.release(process);
    }
  }

  #releasePermit(name: string): void {
    for (const changed of this.#permits.release(name)) this.#watchers.notify(mediaJobOfRun(changed));
  }
}

/** Returns the request with the secret part of its RunSpec, from the job's ticket. @throws Error without a ticket. */
export async function completeRequest({ owner, attempt, account, spec, ticket }: RunRequest): Promise<LocalRunRequest> {
  const found = await ticket();
  if (found === null) throw new Error(`The MediaJob ${owner.name} has no ticket.`);
  return { owner, attempt, account, spec: completeRunSpec(spec, found) };
}

function newRun(clock: Clock, { owner, attempt }: LocalRunRequest): Run {
  const status = { state: 'active', startedAt: clock.now(), isOnReadyNode: false } as const;
  return { name: runName(owner.name, attempt), owner, attempt, node: hostname(), status };
}

/** Ends the processes and deletes the files of a controller that was killed. Logs what it cannot delete; jobs still start. */
async function sweep({ log }: Pick<LocalRunsDeps, 'log'>, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await killProcessesOf(directory);
  const leftovers = await readdir(directory);
  for (const name of leftovers) {
    await removeTree(join(directory, name)).catch((error: unknown) =>
      log.error({ err: error, name }, 'files not deleted'),
    );
  }
}
