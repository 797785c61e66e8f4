/**
 * Process of a standby: a pod that has started and waits for a small job. It asks the controller for its run, performs
 * it as `run-job.ts` does, and ends.
 *
 *   starting ─→ waiting ─→ running its one attempt ─→ ended with a code of `perform-attempt.ts`
 *         ╲─────────╲─→ ended with code 0 and without an outcome: it had no attempt
 */
import { tmpdir } from 'node:os';
import { KINDS } from '#crds/catalogue/formats.ts';
import { STANDBY_KIND, STANDBY_TOKEN_FILE, STANDBY_URL, TERMINATION_FILE } from '#crds/contract/run-files.ts';
import { runSpecSchema } from '#crds/contract/run-spec.ts';
import { endWithOwner } from '#worker-image/end-with-owner.ts';
import { exitWith, performAttempt } from '#worker-image/perform-attempt.ts';
import { prepareAttempts } from '#worker-image/prepare-attempts.ts';
import { SandboxedEngine } from '#worker-image/sandbox/sandboxed-engine.ts';
import { awaitRun } from '#worker-image/transfer/await-run.ts';
import { startHeartbeats } from '#worker-image/transfer/heartbeats.ts';
import { reportOutcome } from '#worker-image/transfer/report-outcome.ts';
import { makeWorkDirectory, removeWorkDirectory } from '#worker-image/work-directory.ts';

const target = { url: required(STANDBY_URL), tokenFile: required(STANDBY_TOKEN_FILE) };
const terminationFile = required(TERMINATION_FILE);
const stop = new AbortController();
let isRunning = false;
endWithOwner((reason) => (isRunning ? stop.abort(reason) : process.exit(0)));

const { log, isolation, versions } = await prepareAttempts('run-standby');
const directory = makeWorkDirectory(process.env['MEDIAJOBS_WORK_DIR'] ?? tmpdir());
const child = new SandboxedEngine({ log }, { isolation, folder: directory });
const kind = KINDS.find((name) => name === process.env[STANDBY_KIND]);
if (kind !== undefined) child.expect(kind);
// An engine process that ends now has opened no file: another standby takes the place of this one.
void child.ended.then(() => isRunning || process.exit(1));
await versions;
log.info({ kind, isolation_level: isolation.level, isolation: isolation.summary }, 'standby started');

const received = await awaitRun(target);
if (received === null) {
  log.info('standby ends without an attempt');
  process.exit(0);
}
isRunning = true;
const spec = runSpecSchema.parse(received);
const { jobId, attempt, heartbeat } = spec;
const attemptLog = log.child({ job_id: jobId, attempt });
const beats = startHeartbeats({ ...heartbeat, jobId, attempt }, () => stop.abort("the attempt is no longer the job's"));
attemptLog.info('attempt started');
const code = await performAttempt(
  { log: attemptLog, child, versions },
  {
    sent: spec,
    directory,
    terminationFile,
    image: process.env['MEDIAJOBS_IMAGE'] ?? '',
    startedAt: beats.startedAt,
    onPercent: (percent) => beats.report(percent),
    signal: stop.signal,
  },
);
beats.stop();
if (code === 0) await reportOutcome(spec, terminationFile);
await removeWorkDirectory(directory);
exitWith(code);

function required(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== '') return value;
  console.error(`The setting ${name} is required in a standby.`);
  process.exit(1);
}
