/**
 * Process that runs the attempts of jobs on a machine without Kubernetes. Its separate user has no access to the
 * database, the keys and the files of other jobs.
 */
import { availableParallelism, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { serveLocalRuns } from '#controller/serve-local-runs.ts';
import { tryIsolation } from '#controller/try-isolation.ts';
import { beginProcess } from '#crds/process/begin-process.ts';
import { bundledScript } from '#crds/process/bundled-script.ts';
import { PROCESS_SETTINGS } from '#crds/process/process-settings.ts';
import { loadConfig } from '#crds/process/config.ts';
import { opsAddress, startOpsServer } from '#crds/process/ops-server.ts';
import { announceReady } from '#crds/process/ready.ts';
import { settings } from '#crds/process/settings.ts';
import { runUntilStopped } from '#crds/process/shutdown.ts';

const runsSettings = settings
  .pick({
    ...PROCESS_SETTINGS,
    MEDIAJOBS_WORK_DIR: true,
    MEDIAJOBS_RUNS_AT_ONCE: true,
    MEDIAJOBS_RUNS_READY: true,
    MEDIAJOBS_OFFICE_READY: true,
    MEDIAJOBS_RUNS_SOCKET: true,
    MEDIAJOBS_ISOLATION: true,
  })
  .required({ MEDIAJOBS_WORK_DIR: true, MEDIAJOBS_RUNS_SOCKET: true });

/** Memory of a machine from which on a LibreOffice process may wait for the next document, in bytes. */
const OFFICE_READY_FROM_BYTES = 4 * 1024 ** 3;

const config = loadConfig(runsSettings, process.env);
const { log, clock, registry } = beginProcess('runs', config);
const concurrency = config.MEDIAJOBS_RUNS_AT_ONCE ?? availableParallelism();
const path = process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin';
const compileCache = process.env['NODE_COMPILE_CACHE'];
const started = { path, ...(compileCache === undefined ? {} : { compileCache }) };
/** Level that passed its trial; null until then. */
let isolationLevel: string | null = null;
const tried = tryIsolation(bundledScript(workerScript('print-isolation.ts')), started).then(
  (level) => {
    isolationLevel = level;
  },
  (error: unknown) => log.warn({ err: error }, 'isolation not tried: each run tries it'),
);
const runs = await serveLocalRuns(
  { clock, log },
  {
    directory: config.MEDIAJOBS_WORK_DIR,
    concurrency,
    ready: config.MEDIAJOBS_RUNS_READY,
    mayStart: tried,
    script: bundledScript(workerScript('serve-attempts.ts')),
    isolation: config.MEDIAJOBS_ISOLATION,
    officeReady: (config.MEDIAJOBS_OFFICE_READY ?? (totalmem() >= OFFICE_READY_FROM_BYTES ? 1 : 0)) > 0,
    triedIsolation: () => isolationLevel,
    ...started,
    ...(config.MEDIAJOBS_FAULTS_DIR === undefined ? {} : { faultsDir: config.MEDIAJOBS_FAULTS_DIR }),
  },
  config.MEDIAJOBS_RUNS_SOCKET,
);
const ops = await startOpsServer({ metrics: registry, notReady: () => null }, opsAddress(config));
announceReady();
log.info({ runs_at_once: concurrency }, 'runs process started');

runUntilStopped({ log }, async () => {
  await runs.close();
  await ops.close();
});

function workerScript(name: string): string {
  return fileURLToPath(new URL(`../worker-image/${name}`, import.meta.url));
}
