/**
 * One attempt of one job, as a process: reads its RunSpec, works, leaves its RunOutcome and ends.
 *
 *   0    the outcome is in the termination file
 *   1    no outcome: the store or the machine failed, another attempt may succeed
 *   143  no outcome: told to stop, or the attempt is no longer the job's
 *   SIGKILL (137)  no outcome: the system killed the engine process, as it may for want of memory
 *
 * Until the first heartbeat has gone out only Node's own modules are loaded.
 */
import { fstatSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { BETWEEN_FILES, joinRunSpec, RUN_SPEC, RUN_SPEC_FILE, TERMINATION_FILE } from '#crds/run-files.ts';
import type { RunOutcome, RunSpec } from '#crds/run-spec.ts';
import { startHeartbeats } from '#worker-image/transfer/heartbeats.ts';

const STOPPED = 143;
const KILLED = 137;

const sent = readRunSpec();
const terminationFile = required(TERMINATION_FILE);
const stop = new AbortController();
const beats = startHeartbeats({ ...sent.heartbeat, jobId: sent.jobId, attempt: sent.attempt }, () =>
  end("the attempt is no longer the job's"),
);
process.once('SIGTERM', () => end('SIGTERM'));
process.once('SIGINT', () => end('SIGINT'));
endWithOwner();

const { probeIsolation } = await import('#worker-image/tools/isolation.ts');
const isolation = await probeIsolation();
const { makeWorkDirectory, removeWorkDirectory } = await import('#worker-image/work-directory.ts');
const directory = await makeWorkDirectory(process.env['MEDIAJOBS_WORK_DIR'] ?? tmpdir());
const { startEngineChild } = await import('#worker-image/engine/engine-child.ts');
const child = startEngineChild(isolation, directory);
const code = await attempt();
beats.stop();
await child.kill();
await removeWorkDirectory(directory);
// Whoever started the attempt tells a want of memory by the signal. The first process of a pod cannot kill itself.
if (code === KILLED) process.kill(process.pid, 'SIGKILL');
process.exit(code);

async function attempt(): Promise<number> {
  const { makeLog } = await import('#crds/shared/log.ts');
  const log = makeLog('run-job', process.env['MEDIAJOBS_LOG_LEVEL'] ?? 'info').child({
    job_id: sent.jobId,
    attempt: sent.attempt,
  });
  const { armFaultPoints, faultPoint } = await import('#crds/shared/fault-point.ts');
  armFaultPoints({ log }, process.env['MEDIAJOBS_FAULTS_DIR']);
  log.info({ isolation: isolation.summary }, 'attempt started');
  try {
    const { runSpecSchema } = await import('#crds/run-spec.ts');
    const { makeRunCommand } = await import('#worker-image/tools/run-command.ts');
    const { toolVersions } = await import('#worker-image/tools/tool-versions.ts');
    const { runAttempt } = await import('#worker-image/run-attempt.ts');
    const { writeOutcome } = await import('#worker-image/transfer/write-outcome.ts');
    const time = {
      now: () => performance.now(),
      wait: (ms: number, signal: AbortSignal) => wait(ms, undefined, { signal }),
      random: Math.random,
    };
    const versions = toolVersions(makeRunCommand());
    const deps = {
      ...time,
      child,
      versions,
      log,
      onPercent: (percent: number) => beats.report(percent),
      signal: stop.signal,
    };
    const outcome = await runAttempt(deps, runSpecSchema.parse(sent), directory);
    stop.signal.throwIfAborted();
    await writeOutcome(terminationFile, withImage(outcome));
    await faultPoint('after-outcome');
    log.info({ outcome: outcome.outcome }, 'attempt ended');
    return 0;
  } catch (error) {
    if (stop.signal.aborted) log.info({ reason: String(stop.signal.reason) }, 'attempt stopped');
    else log.error({ err: error }, 'attempt lost');
    if (stop.signal.aborted) return STOPPED;
    return error instanceof Error && error.name === 'EngineKilled' ? KILLED : 1;
  }
}

/** It was checked by whoever made it; the schema follows once the first heartbeat is out. */
function readRunSpec(): RunSpec {
  const open = JSON.parse(process.env[RUN_SPEC] ?? '{}') as object;
  const files = required(RUN_SPEC_FILE).split(BETWEEN_FILES);
  return joinRunSpec([open, ...files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as object)]) as RunSpec;
}

/** The image is in the receipt of what it made. */
function withImage(outcome: RunOutcome): RunOutcome {
  const image = process.env['MEDIAJOBS_IMAGE'] ?? '';
  if (outcome.outcome !== 'succeeded' || image === '') return outcome;
  return { ...outcome, report: { ...outcome.report, image } };
}

function end(reason: string): void {
  stop.abort(reason);
}

/** A pipe as standard input is held open by whoever started the attempt and ends with it. In a pod it is no pipe. */
function endWithOwner(): void {
  const input = fstatSync(0, { throwIfNoEntry: false });
  if (input === undefined || !(input.isFIFO() || input.isSocket())) return;
  process.stdin.once('end', () => end('its owner is gone'));
  process.stdin.once('error', () => end('its owner is gone'));
  process.stdin.resume();
}

function required(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== '') return value;
  console.error(`The setting ${name} is required: the path of a file.`);
  process.exit(1);
}
