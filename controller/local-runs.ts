import { mkdir, readdir, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#crds/process/clock.ts';
import { completeRunSpec, type RunSpec } from '#crds/contract/run-spec.ts';
import type { Log } from '#crds/process/log.ts';
import { launch, type LocalProcess, type LocalProcessOptions } from '#controller/local-process.ts';
import { killProcessesOf } from '#crds/process/process-tree.ts';
import { makeRunPermits } from '#controller/run-permits.ts';
import { mediaJobOfRun, runName, type Run, type RunRequest, type Runs } from '#controller/runs.ts';

export interface LocalRunsOptions extends LocalProcessOptions {
  /** Private folder of the runs' directories. Everything else in it is deleted. */
  readonly directory: string;
  /** Maximum number of concurrent runs. One more may run for an account that has none running. */
  readonly concurrency: number;
}

/** Attempt with its complete RunSpec. */
export interface LocalRunRequest extends Pick<RunRequest, 'owner' | 'attempt' | 'account'> {
  readonly spec: RunSpec;
}

export interface LocalRuns extends Omit<Runs, 'start'> {
  start(request: LocalRunRequest): ReturnType<Runs['start']>;
  /** Stops every run and refuses further starts. */
  close(): Promise<void>;
}

/** Number of runs above `concurrency`, for accounts that have none running. */
const EXTRA_PERMITS = 1;

interface Entry {
  readonly run: Run;
  readonly launching: Promise<LocalProcess>;
  /** Resolves when the run has ended and its permit is released; never rejects. */
  readonly over: Promise<void>;
}

/**
 * Returns runs as child processes on this machine, with bounded concurrency that is shared fairly between accounts.
 * First ends the processes and deletes the files that a killed controller has left.
 */
export async function makeLocalRuns(deps: { clock: Clock; log: Log }, options: LocalRunsOptions): Promise<LocalRuns> {
  await sweep(options.directory);
  const entries = new Map<string, Entry>();
  const watchers = new Set<(mediaJobName: string) => void>();
  const permits = makeRunPermits(
    { nowMs: () => performance.now() },
    { permits: options.concurrency, extra: EXTRA_PERMITS },
  );
  const release = (name: string): void => {
    for (const changed of permits.release(name)) for (const watcher of watchers) watcher(mediaJobOfRun(changed));
  };

  const follow = async (run: Run, launching: Promise<LocalProcess>): Promise<void> => {
    try {
      const { is, stderr } = await (await launching).done;
      if (is.state === 'lost' && is.cause !== 'stopped')
        deps.log.warn({ run: run.name, cause: is.cause, stderr }, 'run lost');
      entries.set(run.name, { run: { ...run, is }, launching, over: Promise.resolve() });
    } catch (error) {
      // `start` rejects with this error, and its caller may retry.
      deps.log.error({ err: error, run: run.name }, 'run not started, or not cleaned up');
      entries.delete(run.name);
    }
    release(run.name);
  };
  const stop = async (name: string): Promise<void> => {
    const entry = entries.get(name);
    if (entry === undefined) return release(name);
    const process = await entry.launching.catch(() => null);
    process?.kill();
    await entry.over;
  };

  return {
    async reserve(name, account) {
      return permits.acquire(name, account);
    },
    async start(request) {
      const run = newRun(deps.clock, request);
      const found = entries.get(run.name);
      if (found?.run.owner.uid === run.owner.uid) return 'exists';
      if (found !== undefined) throw new Error(`The run ${run.name} of an earlier MediaJob has not been released.`);
      if (!permits.acquire(run.name, request.account)) return 'no-capacity';
      const directory = join(options.directory, run.name);
      const launching = launch(deps, options, { directory, spec: request.spec });
      entries.set(run.name, { run, launching, over: follow(run, launching) });
      await launching;
      return 'started';
    },
    async observe(mediaJobName) {
      return [...entries.values()].map(({ run }) => run).filter(({ owner }) => owner.name === mediaJobName);
    },
    async list() {
      return [...entries.values()].map(({ run }) => run);
    },
    stop,
    async release(mediaJobName) {
      const names = [...entries.keys(), ...permits.names()].filter((name) => mediaJobOfRun(name) === mediaJobName);
      await Promise.all(names.map(stop));
      names.forEach((name) => entries.delete(name));
    },
    watch(onChange, signal) {
      watchers.add(onChange);
      signal.addEventListener('abort', () => watchers.delete(onChange), { once: true });
    },
    async close() {
      permits.close();
      await Promise.all([...entries.keys()].map(stop));
    },
  };
}

/** Returns the request with the secret part of its RunSpec, from the job's ticket. @throws Error without a ticket. */
export async function completeRequest({ owner, attempt, account, spec, ticket }: RunRequest): Promise<LocalRunRequest> {
  const found = await ticket();
  if (found === null) throw new Error(`The MediaJob ${owner.name} has no ticket.`);
  return { owner, attempt, account, spec: completeRunSpec(spec, found) };
}

function newRun(clock: Clock, { owner, attempt }: LocalRunRequest): Run {
  const is = { state: 'active', startedAt: clock.now() } as const;
  return { name: runName(owner.name, attempt), owner, attempt, node: hostname(), is };
}

async function sweep(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await killProcessesOf(directory);
  const leftovers = await readdir(directory);
  await Promise.all(leftovers.map((name) => rm(join(directory, name), { recursive: true, force: true })));
}
