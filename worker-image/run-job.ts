/**
 * Process of one attempt of a job in a pod: reads its RunSpec, processes the file, writes its RunOutcome and ends with
 * a code of `perform-attempt.ts`.
 *
 * Before the first heartbeat hardly more than Node's own modules are loaded.
 */
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { BETWEEN_FILES, joinRunSpec, RUN_SPEC, RUN_SPEC_FILE, TERMINATION_FILE } from '#crds/contract/run-files.ts';
import type { RunSpec } from '#crds/contract/run-spec.ts';
import { endWithOwner } from '#worker-image/end-with-owner.ts';
import { shareCodeCache } from '#worker-image/share-code-cache.ts';
import { startHeartbeats } from '#worker-image/transfer/heartbeats.ts';

const sent = readRunSpec();
const terminationFile = required(TERMINATION_FILE);
const stop = new AbortController();
const beats = startHeartbeats({ ...sent.heartbeat, jobId: sent.jobId, attempt: sent.attempt }, () =>
  stop.abort("the attempt is no longer the job's"),
);
endWithOwner((reason) => stop.abort(reason));
shareCodeCache(process.env['NODE_COMPILE_CACHE']);

const { prepareAttempts } = await import('#worker-image/prepare-attempts.ts');
const { log, isolation, versions } = await prepareAttempts('run-job');
const { makeWorkDirectory, removeWorkDirectory } = await import('#worker-image/work-directory.ts');
const { SandboxedEngine } = await import('#worker-image/sandbox/sandboxed-engine.ts');
const { exitWith, performAttempt } = await import('#worker-image/perform-attempt.ts');

const attemptLog = log.child({ job_id: sent.jobId, attempt: sent.attempt });
const directory = makeWorkDirectory(process.env['MEDIAJOBS_WORK_DIR'] ?? tmpdir());
const engine = new SandboxedEngine({ log: attemptLog }, { isolation, folder: directory });
attemptLog.info({ isolation_level: isolation.level, isolation: isolation.summary }, 'attempt started');
const code = await performAttempt(
  { log: attemptLog, engine, versions },
  {
    sent,
    directory,
    terminationFile,
    image: process.env['MEDIAJOBS_IMAGE'] ?? '',
    startedAt: beats.startedAt,
    onPercent: (percent) => beats.report(percent),
    signal: stop.signal,
  },
);
beats.stop();
await removeWorkDirectory(directory);
exitWith(code);

/** Returns the RunSpec, which its writer has validated. It is parsed again after the first heartbeat. */
function readRunSpec(): RunSpec {
  const open = JSON.parse(process.env[RUN_SPEC] ?? '{}') as object;
  const files = required(RUN_SPEC_FILE).split(BETWEEN_FILES);
  return joinRunSpec([open, ...files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as object)]) as RunSpec;
}

function required(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== '') return value;
  console.error(`The setting ${name} is required: the path of a file.`);
  process.exit(1);
}
