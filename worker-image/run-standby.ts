/**
 * Process of a standby: a pod that has started and waits for a small job. It asks the controller for its run, performs
 * it as `run-job.ts` does, and ends.
 *
 *   starting ─→ waiting ─→ running its attempt ─→ ended with a code of `perform-attempt.ts`
 *         ╲         ╲  ↖─ up to STANDBY_JOBS times, with the account of its first attempt
 *          ╲─────────╲─→ ended with code 0 and without an outcome: it has none to report
 */
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { KINDS } from '#crds/catalogue/formats.ts';
import {
  STANDBY_JOBS,
  STANDBY_KIND,
  STANDBY_TOKEN_FILE,
  STANDBY_URL,
  TERMINATION_FILE,
} from '#crds/contract/run-files.ts';
import { runSpecSchema, type AttemptId, type RunSpec } from '#crds/contract/run-spec.ts';
import { endWithOwner } from '#worker-image/end-with-owner.ts';
import { exitWith, performAttempt } from '#worker-image/perform-attempt.ts';
import { prepareAttempts } from '#worker-image/prepare-attempts.ts';
import { SandboxedEngine } from '#worker-image/sandbox/sandboxed-engine.ts';
import { shareCodeCache } from '#worker-image/share-code-cache.ts';
import { awaitRun } from '#worker-image/transfer/await-run.ts';
import { startHeartbeats } from '#worker-image/transfer/heartbeats.ts';
import { reportOutcome } from '#worker-image/transfer/report-outcome.ts';
import { makeWorkDirectory, removeWorkDirectory } from '#worker-image/work-directory.ts';

const target = { url: required(STANDBY_URL), tokenFile: required(STANDBY_TOKEN_FILE) };
const terminationFile = required(TERMINATION_FILE);
const stop = new AbortController();
let isRunning = false;
/** Engine processes that have ended. */
const ended = new WeakSet<SandboxedEngine>();
endWithOwner((reason) => (isRunning ? stop.abort(reason) : process.exit(0)));
shareCodeCache(process.env['NODE_COMPILE_CACHE']);

const { log, isolation, versions } = await prepareAttempts('run-standby');
const kind = KINDS.find((name) => name === process.env[STANDBY_KIND]);
const directory = makeWorkDirectory(process.env['MEDIAJOBS_WORK_DIR'] ?? tmpdir());
let engine = startEngine();
await versions;
log.info({ kind, isolation_level: isolation.level, isolation: isolation.summary }, 'standby started');

let finished: AttemptId | undefined;
for (let left = Number(process.env[STANDBY_JOBS] ?? 1); left > 0; left -= 1) {
  const received = await awaitRun(finished === undefined ? target : { ...target, finished });
  if (received === null) break;
  isRunning = true;
  const spec = runSpecSchema.parse(received);
  const { code, isReported } = await perform(spec, left > 1);
  if (code !== 0) {
    await removeWorkDirectory(directory);
    exitWith(code);
  }
  // Without a report, the termination file is the record of the outcome.
  if (!isReported) break;
  finished = { jobId: spec.jobId, attempt: spec.attempt };
  if (left === 1) break;
  // The next attempt has no outcome yet.
  await writeFile(terminationFile, '');
  isRunning = false;
}
log.info({ job_id: finished?.jobId }, 'standby ends');
await removeWorkDirectory(directory);
process.exit(0);

/** Performs an attempt and reports its outcome. `keepsEngine`: the engine process may open the next file. */
async function perform(spec: RunSpec, keepsEngine: boolean): Promise<{ code: number; isReported: boolean }> {
  const { jobId, attempt, heartbeat } = spec;
  const attemptLog = log.child({ job_id: jobId, attempt });
  const fenced = new AbortController();
  const beats = startHeartbeats({ ...heartbeat, jobId, attempt }, () =>
    fenced.abort("the attempt is no longer the job's"),
  );
  attemptLog.info('attempt started');
  const code = await performAttempt(
    { log: attemptLog, engine, versions },
    {
      sent: spec,
      directory,
      terminationFile,
      image: process.env['MEDIAJOBS_IMAGE'] ?? '',
      startedAt: beats.startedAt,
      onPercent: (percent) => beats.report(percent),
      signal: AbortSignal.any([stop.signal, fenced.signal]),
      keepsEngine,
    },
  );
  beats.stop();
  const isReported = code === 0 && (await reportOutcome(spec, terminationFile));
  if (keepsEngine && ended.has(engine)) engine = startEngine();
  return { code, isReported };
}

/** Starts an engine process for files of the pod's kind. */
function startEngine(): SandboxedEngine {
  const engine = new SandboxedEngine({ log }, { isolation, folder: directory });
  if (kind !== undefined) engine.expect(kind);
  void engine.ended.then(() => {
    ended.add(engine);
    // An engine process that ends now has no file: another standby takes the place of this one.
    if (!isRunning) process.exit(1);
  });
  return engine;
}

function required(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== '') return value;
  console.error(`The setting ${name} is required in a standby.`);
  process.exit(1);
}
