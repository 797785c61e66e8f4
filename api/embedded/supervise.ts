/**
 * Supervision of one process.
 *
 *   starting ──ready──▶ serving ──ends──▶ pausing (100 ms, doubled up to 5 s) ──▶ starting
 *   any ──the signal aborts──▶ no further start; `stop` ends what runs
 */
import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '#crds/process/backoff.ts';
import type { Clock } from '#crds/process/clock.ts';

export interface Running {
  readonly pid: number;
  /** Resolves with how it ended, such as `exit code 1`. */
  readonly ended: Promise<string>;
  /** Ends the process. Resolves when it has ended. */
  stop(): Promise<void>;
}

export interface Supervised {
  readonly name: string;
  /** Returns its process id; null while it does not run. */
  pid(): number | null;
  /** Ends the process. To be called after the signal has aborted. */
  stop(): Promise<void>;
}

interface SuperviseDeps {
  readonly clock: Clock;
  /** Called with one sentence for the operator. */
  readonly report: (sentence: string) => void;
  /** Called after each start and end. */
  readonly onChange: () => void;
  /** Aborted when the service stops. */
  readonly signal: AbortSignal;
}

const PAUSES = { firstMs: 100, maxMs: 5000 };
/** Running time after which the pause is reset, in milliseconds. */
const STEADY_MS = 10_000;

/**
 * Starts the process, and restarts it whenever it ends.
 * `start` resolves when it serves and rejects when it ends before. The first rejection is thrown to the caller.
 */
export async function supervise(
  deps: SuperviseDeps,
  { name, start }: { name: string; start: () => Promise<Running> },
): Promise<Supervised> {
  let running: Running | null = await start();
  const supervision = keepAlive(deps, { name, start, first: running, onRunning: (next) => (running = next) });
  return {
    name,
    pid: () => running?.pid ?? null,
    stop: async () => {
      await running?.stop();
      await supervision;
    },
  };
}

interface Supervision {
  readonly name: string;
  readonly start: () => Promise<Running>;
  readonly first: Running;
  readonly onRunning: (running: Running | null) => void;
}

async function keepAlive(deps: SuperviseDeps, { name, start, first, onRunning }: Supervision): Promise<void> {
  let running: Running | null = first;
  let failures = 0;
  while (!deps.signal.aborted) {
    if (running !== null) {
      const servedMs = await untilEnded(deps, { name, running });
      onRunning(null);
      deps.onChange();
      if (servedMs >= STEADY_MS) failures = 0;
    }
    running = await startAgain(deps, { name, start, pauseMs: backoffMs(PAUSES, failures) });
    failures += 1;
    onRunning(running);
    if (running !== null) deps.onChange();
  }
  await running?.stop();
}

async function untilEnded(
  { clock, report, signal }: SuperviseDeps,
  { name, running }: { name: string; running: Running },
): Promise<number> {
  const since = clock.now().getTime();
  const end = await running.ended;
  if (!signal.aborted) report(`${name} ended (${end}) and is being restarted`);
  return clock.now().getTime() - since;
}

/** Returns null when it did not start, or the service stops. */
async function startAgain(
  { report, signal }: SuperviseDeps,
  { name, start, pauseMs }: { name: string; start: () => Promise<Running>; pauseMs: number },
): Promise<Running | null> {
  try {
    await delay(pauseMs, undefined, { signal });
    return await start();
  } catch (error) {
    if (!signal.aborted) report(`${name} did not start: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}
