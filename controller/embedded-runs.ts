/**
 * Process that runs the attempts of jobs on a machine without Kubernetes. Its separate user has no access to the
 * database, the keys and the files of other jobs.
 */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { tryIsolation } from '#controller/local-process.ts';
import { serveLocalRuns } from '#controller/serve-local-runs.ts';
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
    MEDIAJOBS_RUNS_SOCKET: true,
    MEDIAJOBS_ISOLATION: true,
  })
  .required({ MEDIAJOBS_WORK_DIR: true, MEDIAJOBS_RUNS_SOCKET: true });

const config = loadConfig(runsSettings, process.env);
const { log, clock, registry } = beginProcess('runs', config);
const concurrency = config.MEDIAJOBS_RUNS_AT_ONCE ?? availableParallelism();
const path = process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin';
/** Level that passed its trial; null until then. */
let isolationLevel: string | null = null;
tryIsolation(workerScript('print-isolation.ts'), { path }).then(
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
    script: bundledScript(workerScript('run-job.ts')),
    isolation: config.MEDIAJOBS_ISOLATION,
    triedIsolation: () => isolationLevel,
    path,
    ...(process.env['NODE_COMPILE_CACHE'] === undefined ? {} : { compileCache: process.env['NODE_COMPILE_CACHE'] }),
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
