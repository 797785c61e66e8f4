import type { RunOutcome } from '#crds/contract/run-spec.ts';
import {
  mediaJobOfRun,
  runName,
  type LostCause,
  type Run,
  type RunRequest,
  type Runs,
  type RunState,
} from '#controller/runs.ts';

/** Runs that end when the test says so. */
export interface ScriptedRuns extends Runs {
  /** Every request that was started, in order. */
  readonly started: RunRequest[];
  /** Runs that were under way and were stopped, in order. */
  readonly stopped: string[];
  slots: number;
  /** Thrown by the next start. */
  failNext: Error | null;
  end(name: string, outcome: RunOutcome): void;
  lose(name: string, cause: LostCause): void;
  vanish(name: string): void;
  /** A run that is there without having been started here. */
  put(run: Run): void;
}

export function makeScriptedRuns(clock: { now(): Date }, slots = 10): ScriptedRuns {
  const runs = new Map<string, Run>();
  const taken = new Set<string>();
  const watchers = new Set<(mediaJobName: string) => void>();
  const free = (name: string): void => {
    taken.delete(name);
    for (const watcher of watchers) watcher(mediaJobOfRun(name));
  };
  const become = (name: string, status: RunState): void => {
    const run = runs.get(name);
    if (run === undefined) throw new Error(`There is no run ${name}.`);
    runs.set(name, { ...run, status });
    free(name);
  };
  const take = (name: string): boolean => {
    if (!taken.has(name) && taken.size >= scripted.slots) return false;
    taken.add(name);
    return true;
  };
  const stop = async (name: string): Promise<void> => {
    if (runs.get(name)?.status.state === 'active') {
      scripted.stopped.push(name);
      become(name, { state: 'lost', cause: 'stopped', message: 'it was stopped' });
    } else if (taken.has(name)) free(name);
  };
  const scripted: ScriptedRuns = {
    started: [],
    stopped: [],
    slots,
    failNext: null,
    reserve: async (name) => take(name),
    async start(request) {
      const { owner, attempt } = request;
      const name = runName(owner.name, attempt);
      const error = scripted.failNext;
      scripted.failNext = null;
      if (error !== null) throw error;
      if (runs.has(name)) return 'exists';
      if (!take(name)) return 'no-capacity';
      scripted.started.push(request);
      runs.set(name, {
        name,
        owner,
        attempt,
        node: 'node-1',
        status: { state: 'active', startedAt: clock.now(), isOnReadyNode: true },
      });
      return 'started';
    },
    observe: async (mediaJobName) => [...runs.values()].filter(({ owner }) => owner.name === mediaJobName),
    list: async () => [...runs.values()],
    stop,
    async release(mediaJobName) {
      const names = [...new Set([...runs.keys(), ...taken])].filter((name) => mediaJobOfRun(name) === mediaJobName);
      for (const name of names) await stop(name);
      for (const name of names) runs.delete(name);
    },
    watch(onChange, signal) {
      watchers.add(onChange);
      signal.addEventListener('abort', () => watchers.delete(onChange), { once: true });
    },
    end: (name, outcome) => become(name, { state: 'ended', startedAt: clock.now(), outcome }),
    lose: (name, cause) => become(name, { state: 'lost', cause, message: `it was lost: ${cause}` }),
    vanish(name) {
      runs.delete(name);
      free(name);
    },
    put(run) {
      runs.set(run.name, run);
      taken.add(run.name);
    },
  };
  return scripted;
}
