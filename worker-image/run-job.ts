/**
 * Process of one attempt of a job: reads its RunSpec, processes the file, writes its RunOutcome and ends.
 *
 *   0    the outcome is in the termination file
 *   1    no outcome: the store or the machine failed, another attempt may succeed
 *   143  no outcome: stopped by a signal, or the attempt is no longer the job's
 *   SIGKILL (137)  no outcome: the system killed the engine process, probably for lack of memory
 *
 * Before the first heartbeat hardly more than Node's own modules are loaded.
 */
import { fstatSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import {
  BETWEEN_FILES,
  joinRunSpec,
  RUN_SPEC,
  RUN_SPEC_FILE,
  TERMINATION_FILE,
  TRIED_ISOLATION,
} from '#crds/contract/run-files.ts';
import type { RunOutcome, RunSpec } from '#crds/contract/run-spec.ts';
import type { IsolationSetting } from '#worker-image/tools/isolation.ts';
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

const { probeIsolation, triedIsolation } = await import('#worker-image/tools/isolation.ts');
const { makeLog } = await import('#crds/process/log.ts');
const log = makeLog('run-job', process.env['MEDIAJOBS_LOG_LEVEL'] ?? 'info').child({
  job_id: sent.jobId,
  attempt: sent.attempt,
});
const isolation =
  triedIsolation(process.env[TRIED_ISOLATION]) ??
  (await probeIsolation({ setting: isolationSetting() }).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  }));
const { makeWorkDirectory, removeWorkDirectory } = await import('#worker-image/work-directory.ts');
const directory = await makeWorkDirectory(process.env['MEDIAJOBS_WORK_DIR'] ?? tmpdir());
const { SandboxedEngine } = await import('#worker-image/sandbox/sandboxed-engine.ts');
const child = new SandboxedEngine({ log }, { isolation, folder: directory });
const code = await attempt();
beats.stop();
await child.kill();
await removeWorkDirectory(directory);
// The owner recognizes a lack of memory by the signal. The first process of a pod cannot kill itself.
if (code === KILLED) process.kill(process.pid, 'SIGKILL');
process.exit(code);

async function attempt(): Promise<number> {
  const { armFaultPoints, faultPoint } = await import('#crds/process/fault-point.ts');
  armFaultPoints({ log }, process.env['MEDIAJOBS_FAULTS_DIR']);
  log.info({ isolation_level: isolation.level, isolation: isolation.summary }, 'attempt started');
  try {
    const { runSpecSchema } = await import('#crds/contract/run-spec.ts');
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
    // Processes that the file started must neither survive it nor change the outcome.
    await child.kill();
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

/** Returns the RunSpec, which its writer has validated. It is parsed again after the first heartbeat. */
function readRunSpec(): RunSpec {
  const open = JSON.parse(process.env[RUN_SPEC] ?? '{}') as object;
  const files = required(RUN_SPEC_FILE).split(BETWEEN_FILES);
  return joinRunSpec([open, ...files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as object)]) as RunSpec;
}

/** Returns the setting, which the owner of this process has validated. */
function isolationSetting(): IsolationSetting {
  const setting = process.env['MEDIAJOBS_ISOLATION'];
  return setting === 'pod' || setting === 'none' ? setting : 'auto';
}

/** Returns the outcome with the name of the container image, which goes into the receipt. */
function withImage(outcome: RunOutcome): RunOutcome {
  const image = process.env['MEDIAJOBS_IMAGE'] ?? '';
  if (outcome.outcome !== 'succeeded' || image === '') return outcome;
  return { ...outcome, report: { ...outcome.report, image } };
}

function end(reason: string): void {
  stop.abort(reason);
}

/** Ends this process with its owner, which holds standard input open as a pipe. In a pod it is not a pipe. */
function endWithOwner(): void {
  const input = fstatSync(0, { throwIfNoEntry: false });
  if (input === undefined || !(input.isFIFO() || input.isSocket())) return;
  process.stdin.once('end', () => end('its owner has ended'));
  process.stdin.once('error', () => end('its owner has ended'));
  process.stdin.resume();
}

function required(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== '') return value;
  console.error(`The setting ${name} is required: the path of a file.`);
  process.exit(1);
}
