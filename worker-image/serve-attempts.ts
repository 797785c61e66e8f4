/**
 * Process that runs attempts of jobs on one machine, one at a time, as its owner sends them. It transfers files and
 * opens none: each attempt has a new engine process, which was started ahead. One whose LibreOffice is loaded goes on to
 * the next office document of the same tenant. After an attempt without an outcome this process ends with a code of
 * `perform-attempt.ts`; otherwise its owner ends it.
 *
 *   starting ─→ idle ⇄ running ─→ (ended by its owner, or after an attempt without an outcome)
 *
 * Before the first heartbeat hardly more than Node's own modules are loaded.
 */
import { Socket } from 'node:net';
import { join } from 'node:path';
import { kindOfName, type Kind } from '#crds/catalogue/formats.ts';
import { RUN_CHANNEL, TERMINATION_NAME } from '#crds/contract/run-files.ts';
import type { RunMessage } from '#crds/contract/run-spec.ts';
import { readJsonLines, writeJsonLine } from '#crds/process/message-lines.ts';
import { endWithOwner } from '#worker-image/end-with-owner.ts';
import { WARM } from '#worker-image/sandbox/engine-protocol.ts';
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
/** Office documents of one tenant that one engine process opens. */
const OFFICE_FILES = 20;
/** Time for which LibreOffice waits for the next document of its tenant, in milliseconds. */
const OFFICE_IDLE_MS = 60_000;
/** Time after a file in which its tenant's next one may come, in milliseconds: starting a tool would take processor time from it. */
const PAUSE_MS = 5000;
/** Kinds whose tool is started in the next engine process after a file of the kind: whoever sends one often sends more. */
const REPEATED_KINDS: readonly Kind[] = ['pdf', ...OFFICE_KINDS];

let running: AbortController | null = null;
/** Waits until the next engine process may prepare for a file. */
let pause: NodeJS.Timeout | undefined;
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
  onMessage: (message) => void run(message as RunMessage),
});
const prepared = prepare();

async function run({ directory, tenant, spec }: RunMessage): Promise<void> {
  const stop = new AbortController();
  running = stop;
  clearTimeout(pause);
  const { jobId, attempt, heartbeat } = spec;
  const beats = startHeartbeats({ ...heartbeat, jobId, attempt }, () =>
    stop.abort("the attempt is no longer the job's"),
  );
  const { performAttempt, exitWith } = await loading;
  const { engines, isolation, versions, ...deps } = await prepared;
  const log = deps.log.child({ job_id: jobId, attempt });
  log.info({ isolation_level: isolation.level, isolation: isolation.summary }, 'attempt started');
  const kind = kindOfName(spec.filename);
  const keepsEngine = kind !== null && OFFICE_KINDS.includes(kind);
  const acquired = engines.acquire(keepsEngine ? tenant : null);
  const code = await performAttempt(
    { log, engine: acquired.engine, versions },
    {
      sent: spec,
      directory,
      terminationFile: join(directory, TERMINATION_NAME),
      image: '',
      startedAt: beats.startedAt,
      onPercent: (percent) => beats.report(percent),
      signal: stop.signal,
      keepsEngine,
    },
  );
  beats.stop();
  acquired.release(keepsEngine && code === 0);
  const next = (): void => prepareNext(engines, kind);
  void acquired.engine.ended.then(next);
  pause = setTimeout(next, PAUSE_MS).unref();
  if (code !== 0) exitWith(code);
  running = null;
  writeJsonLine(channel, { ended: true });
}

/** Makes the next engine process start the tool of the kind. */
function prepareNext(engines: Pick<TenantChildren, 'expect'>, kind: Kind | null): void {
  if (kind !== null && REPEATED_KINDS.includes(kind)) engines.expect(kind);
}

async function prepare() {
  const { prepareAttempts, TenantChildren } = await loading;
  const deps = await prepareAttempts('run-job');
  const { log, isolation } = deps;
  const directory = process.cwd();
  const limits = { children: ENGINES, filesPerChild: OFFICE_FILES, idleMs: OFFICE_IDLE_MS };
  return { ...deps, engines: new TenantChildren({ log, isolation, directory, ...limits }) };
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
