/**
 * Process that runs attempts of jobs on one machine, one at a time, as its owner sends them. It transfers files and
 * opens none: each attempt has a new engine process, which was started ahead. After an attempt without an outcome it
 * ends with a code of `perform-attempt.ts`; otherwise its owner ends it.
 *
 *   starting ─→ idle ⇄ running ─→ (ended by its owner, or after an attempt without an outcome)
 *
 * Before the first heartbeat hardly more than Node's own modules are loaded.
 */
import { Socket } from 'node:net';
import { join } from 'node:path';
import { FORMATS, formatOfName, type Kind } from '#crds/catalogue/formats.ts';
import { RUN_CHANNEL, TERMINATION_NAME } from '#crds/contract/run-files.ts';
import type { RunSpec } from '#crds/contract/run-spec.ts';
import { readJsonLines, writeJsonLine } from '#crds/process/message-lines.ts';
import { endWithOwner } from '#worker-image/end-with-owner.ts';
import { WARM } from '#worker-image/sandbox/child-messages.ts';
import type { TenantChildren } from '#worker-image/sandbox/tenant-children.ts';
import { startHeartbeats } from '#worker-image/transfer/heartbeats.ts';

/** Maximum size of a request, in bytes: a RunSpec. */
const REQUEST_BYTES = 1024 ** 2;
/** Exit code of a process that ends between two attempts. */
const STOPPED = 143;
/** The running engine process, and one that is started while it works. */
const ENGINES = 2;

const OFFICE_KINDS: readonly Kind[] =
  process.env['MEDIAJOBS_OFFICE_READY'] === '1' ? ['word', 'sheet', 'presentation'] : [];
/** Kinds whose tool is started in the next engine process after a file of the kind: whoever sends one often sends more. */
const REPEATED_KINDS: readonly Kind[] = ['pdf', ...OFFICE_KINDS];

let running: AbortController | null = null;
const loading = load();
if (process.argv.includes(WARM)) {
  await loading;
  process.exit(0);
}
const channel = new Socket({ fd: RUN_CHANNEL });
endWithOwner(end);
channel.once('close', () => end('its owner has closed the channel'));
readJsonLines(channel, {
  maxBytes: REQUEST_BYTES,
  onMessage: (message) => void run(message as { directory: string; spec: RunSpec }),
});
const prepared = prepare();

async function run({ directory, spec }: { directory: string; spec: RunSpec }): Promise<void> {
  const stop = new AbortController();
  running = stop;
  const { jobId, attempt, heartbeat } = spec;
  const beats = startHeartbeats({ ...heartbeat, jobId, attempt }, () =>
    stop.abort("the attempt is no longer the job's"),
  );
  const { performAttempt, exitWith } = await loading;
  const { engines, isolation, versions, ...deps } = await prepared;
  const log = deps.log.child({ job_id: jobId, attempt });
  log.info({ isolation_level: isolation.level, isolation: isolation.summary }, 'attempt started');
  const acquired = engines.acquire(null);
  const code = await performAttempt(
    { log, child: acquired.engine, versions },
    {
      sent: spec,
      directory,
      terminationFile: join(directory, TERMINATION_NAME),
      image: '',
      startedAt: beats.startedAt,
      onPercent: (percent) => beats.report(percent),
      signal: stop.signal,
    },
  );
  beats.stop();
  acquired.release(false);
  prepareNext(engines, spec.filename);
  if (code !== 0) exitWith(code);
  running = null;
  writeJsonLine(channel, { ended: true });
}

/** Has the tool of the file's kind started in the next engine process. */
function prepareNext(engines: Pick<TenantChildren, 'expect'>, filename: RunSpec['filename']): void {
  const format = formatOfName(filename);
  const kind = format === null ? null : FORMATS[format].kind;
  if (kind !== null && REPEATED_KINDS.includes(kind)) engines.expect(kind);
}

async function prepare() {
  const { prepareAttempts, TenantChildren } = await loading;
  const deps = await prepareAttempts('run-job');
  const { log, isolation } = deps;
  const directory = process.cwd();
  return { ...deps, engines: new TenantChildren({ log, isolation, directory, children: ENGINES, filesPerChild: 1 }) };
}

async function load() {
  const [prepareModule, tenants, perform] = await Promise.all([
    import('#worker-image/prepare-attempts.ts'),
    import('#worker-image/sandbox/tenant-children.ts'),
    import('#worker-image/perform-attempt.ts'),
  ]);
  return { ...prepareModule, ...tenants, ...perform };
}

/** Stops the running attempt, after which the process exits; exits at once between two attempts. */
function end(reason: string): void {
  if (running === null) process.exit(STOPPED);
  running.abort(reason);
}
