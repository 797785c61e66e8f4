/**
 * One attempt of a job in the process that transfers its files, with the exit code of that process:
 *
 *   0    the outcome is in the termination file
 *   1    no outcome: the store or the machine failed, another attempt may succeed
 *   143  no outcome: stopped by a signal, or the attempt is no longer the job's
 *   137  no outcome: the system killed the engine process, probably for lack of memory
 */
import { setTimeout as wait } from 'node:timers/promises';
import { runSpecSchema, type RunOutcome } from '#crds/contract/run-spec.ts';
import { faultPoint } from '#crds/process/fault-point.ts';
import type { Log } from '#crds/process/log.ts';
import { PhaseTimes } from '#worker-image/phase-times.ts';
import { runAttempt } from '#worker-image/run-attempt.ts';
import { EngineKilled } from '#worker-image/sandbox/engine-channel.ts';
import type { SandboxedEngine } from '#worker-image/sandbox/sandboxed-engine.ts';
import { writeOutcome } from '#worker-image/transfer/write-outcome.ts';

export interface PerformDeps {
  readonly log: Log;
  /** Engine process that has opened no files of other accounts. It is ended with the attempt unless that `keepsEngine`. */
  readonly engine: SandboxedEngine;
  readonly versions: Promise<Readonly<Record<string, string>>>;
}

export interface PerformInput {
  /** RunSpec as it was received. */
  readonly sent: unknown;
  /** Private directory, on the file system of the engine process's root directory. */
  readonly directory: string;
  readonly terminationFile: string;
  /** Name of the container image, which goes into the receipt; empty: none. */
  readonly image: string;
  /** Time of the first heartbeat, in milliseconds of `performance.now()`. */
  readonly startedAt: number;
  /** Called with the progress, 0 to 99. */
  readonly onPercent: (percent: number) => void;
  /** Aborted when the attempt is no longer wanted. */
  readonly signal: AbortSignal;
  /** true: after a success without warnings the engine process goes on. */
  readonly keepsEngine?: boolean;
}

const STOPPED = 143;
const KILLED = 137;
const TIME = {
  now: () => performance.now(),
  wait: (ms: number, signal: AbortSignal) => wait(ms, undefined, { signal }),
  random: Math.random,
};

/**
 * Performs the attempt and writes its outcome. The engine process and everything that it started have ended then, unless
 * the process may go on.
 */
export async function performAttempt({ log, engine, versions }: PerformDeps, input: PerformInput): Promise<number> {
  const { signal, onPercent, image, startedAt, keepsEngine = false } = input;
  try {
    const phases = new PhaseTimes(TIME.now, startedAt);
    const deps = { ...TIME, engine, versions, log, onPercent, signal, phases, keepsEngine };
    const outcome = await runAttempt(deps, runSpecSchema.parse(input.sent), input.directory);
    signal.throwIfAborted();
    // Processes that the file started must neither survive it nor change the outcome.
    if (!keepsEngine || !isPlainSuccess(outcome)) await engine.kill();
    await writeOutcome(input.terminationFile, withImage(outcome, image));
    await faultPoint('after-outcome');
    log.info({ outcome: outcome.outcome }, 'attempt ended');
    return 0;
  } catch (error) {
    await engine.kill();
    if (signal.aborted) log.info({ reason: String(signal.reason) }, 'attempt stopped');
    else log.error({ err: error }, 'attempt lost');
    if (signal.aborted) return STOPPED;
    return error instanceof EngineKilled ? KILLED : 1;
  }
}

/** Ends this process with the code. The owner recognizes a lack of memory by SIGKILL; the first process of a pod cannot kill itself. */
export function exitWith(code: number): never {
  if (code === KILLED) process.kill(process.pid, 'SIGKILL');
  process.exit(code);
}

/** Returns whether an engine process has worked as expected: after any surprise it opens no other file. */
function isPlainSuccess(outcome: RunOutcome): boolean {
  return outcome.outcome === 'succeeded' && outcome.report.result.warnings.length === 0;
}

function withImage(outcome: RunOutcome, image: string): RunOutcome {
  if (outcome.outcome !== 'succeeded' || image === '') return outcome;
  return { ...outcome, report: { ...outcome.report, image } };
}
