import { mkdir, readdir, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#crds/shared/clock.ts';
import { completeRunSpec, type RunSpec } from '#crds/run-spec.ts';
import type { Log } from '#crds/shared/log.ts';
import { launch, type LocalProcess, type LocalProcessOptions } from '#controller/local-process.ts';
import { killProcessesOf } from '#controller/process-tree.ts';
import { mediaJobOfRun, runName, type Run, type RunRequest, type Runs } from '#controller/runs.ts';

export interface LocalRunsOptions extends LocalProcessOptions {
  /** Private folder for the runs' directories; nothing else may be in it. */
  readonly directory: string;
  readonly atOnce: number;
}

export interface LocalRuns extends Runs {
  /** Stops every run and starts no more. */
  close(): Promise<void>;
}

interface Entry {
  readonly run: Run;
  readonly launching: Promise<LocalProcess>;
  /** Resolves when it has ended and its place is free; never rejects. */
  readonly over: Promise<void>;
}

/**
 * Runs attempts as child processes of this machine, at most so many at once. Begins by ending what a
 * controller that was killed has left behind.
 */
export async function makeLocalRuns(deps: { clock: Clock; log: Log }, options: LocalRunsOptions): Promise<LocalRuns> {
  await sweep(options.directory);
  const entries = new Map<string, Entry>();
  const watchers = new Set<(mediaJobName: string) => void>();
  const places = makePlaces(options.atOnce, (name) => {
    for (const watcher of watchers) watcher(mediaJobOfRun(name));
  });

  const follow = async (run: Run, launching: Promise<LocalProcess>): Promise<void> => {
    try {
      const { is, stderr } = await (await launching).done;
      if (is.state === 'lost' && is.cause !== 'stopped')
        deps.log.warn({ run: run.name, cause: is.cause, stderr }, 'run lost');
      entries.set(run.name, { run: { ...run, is }, launching, over: Promise.resolve() });
    } catch (error) {
      // `start` tells its caller; it may be tried again.
      deps.log.error({ err: error, run: run.name }, 'run not started, or not cleaned up');
      entries.delete(run.name);
    }
    places.free(run.name);
  };
  const stop = async (name: string): Promise<void> => {
    const entry = entries.get(name);
    if (entry === undefined) return places.free(name);
    const process = await entry.launching.catch(() => null);
    process?.kill();
    await entry.over;
  };

  return {
    async reserve(name) {
      return places.take(name);
    },
    async start(request) {
      const run = newRun(deps.clock, request);
      const found = entries.get(run.name);
      if (found?.run.owner.uid === run.owner.uid) return 'exists';
      if (found !== undefined) throw new Error(`The run ${run.name} of an earlier MediaJob has not been released.`);
      if (!places.take(run.name)) return 'no-capacity';
      const directory = join(options.directory, run.name);
      const launching = wholeSpec(request).then((spec) => launch(deps, options, { directory, spec }));
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
      const names = [...entries.keys(), ...places.names()].filter((name) => mediaJobOfRun(name) === mediaJobName);
      await Promise.all(names.map(stop));
      names.forEach((name) => entries.delete(name));
    },
    watch(onChange, signal) {
      watchers.add(onChange);
      signal.addEventListener('abort', () => watchers.delete(onChange), { once: true });
    },
    async close() {
      places.close();
      await Promise.all([...entries.keys()].map(stop));
    },
  };
}

async function wholeSpec({ owner, spec, ticket }: RunRequest): Promise<RunSpec> {
  const found = await ticket();
  if (found === null) throw new Error(`The MediaJob ${owner.name} has no ticket.`);
  return completeRunSpec(spec, found);
}

function makePlaces(atOnce: number, onFree: (name: string) => void) {
  const taken = new Set<string>();
  let closed = false;
  return {
    take(name: string): boolean {
      if (closed || (!taken.has(name) && taken.size >= atOnce)) return false;
      taken.add(name);
      return true;
    },
    free(name: string): void {
      if (taken.delete(name)) onFree(name);
    },
    names: () => [...taken],
    close() {
      closed = true;
    },
  };
}

function newRun(clock: Clock, { owner, attempt }: RunRequest): Run {
  const is = { state: 'active', startedAt: clock.now() } as const;
  return { name: runName(owner.name, attempt), owner, attempt, node: hostname(), is };
}

async function sweep(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await killProcessesOf(directory);
  const left = await readdir(directory);
  await Promise.all(left.map((name) => rm(join(directory, name), { recursive: true, force: true })));
}
