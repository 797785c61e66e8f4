/** The engine of the direct lane: a process of its own for each account's files in work. */
import { availableParallelism, tmpdir } from 'node:os';
import { LIMITS, PLANS } from '#crds/plans.ts';
import { endConnectionsAtClose } from '#crds/shared/end-connections.ts';
import { ConfigError, loadConfig } from '#crds/shared/config.ts';
import { armFaultPoints } from '#crds/shared/fault-point.ts';
import { makeLog } from '#crds/shared/log.ts';
import { listen, startOpsServer } from '#crds/shared/ops-server.ts';
import { announceReady } from '#crds/shared/ready.ts';
import { settings } from '#crds/shared/settings.ts';
import { runUntilStopped } from '#crds/shared/shutdown.ts';
import { makeDirectMetrics } from '#worker-image/direct-metrics.ts';
import { makeDirectPlaces } from '#worker-image/direct-places.ts';
import { makeDirectServer } from '#worker-image/direct-server.ts';
import { startChildPool } from '#worker-image/engine/child-pool.ts';
import { warmCompileCache } from '#worker-image/engine/engine-child.ts';
import { missingTools } from '#worker-image/tools/find-tool.ts';
import { probeIsolation } from '#worker-image/tools/isolation.ts';
import { makeRunCommand } from '#worker-image/tools/run-command.ts';
import { toolVersions } from '#worker-image/tools/tool-versions.ts';
import { makeWorkDirectory, removeWorkDirectory, sweepWorkDirectories } from '#worker-image/work-directory.ts';

const configSchema = settings.pick({
  MEDIAJOBS_ENGINE_HOST: true,
  MEDIAJOBS_ENGINE_PORT: true,
  MEDIAJOBS_ENGINE_CHILDREN: true,
  MEDIAJOBS_ENGINE_QUEUE: true,
  MEDIAJOBS_ENGINE_FILES_PER_CHILD: true,
  MEDIAJOBS_WORK_DIR: true,
  MEDIAJOBS_OPS_HOST: true,
  MEDIAJOBS_OPS_PORT: true,
  MEDIAJOBS_FAULTS_DIR: true,
  MEDIAJOBS_LOG_LEVEL: true,
});

const config = readConfig();
const log = makeLog('engine', config.MEDIAJOBS_LOG_LEVEL);
armFaultPoints({ log }, config.MEDIAJOBS_FAULTS_DIR);
const root = config.MEDIAJOBS_WORK_DIR ?? tmpdir();
await sweepWorkDirectories(root);
const [isolation, tools] = await Promise.all([probeIsolation(), toolVersions(makeRunCommand()), warmCompileCache()]);
for (const { tool, problem } of missingTools()) log.error({ tool }, problem);

const children = config.MEDIAJOBS_ENGINE_CHILDREN ?? availableParallelism();
const home = await makeWorkDirectory(root);
const pool = startChildPool({
  isolation,
  directory: home,
  children,
  queue: config.MEDIAJOBS_ENGINE_QUEUE,
  filesPerChild: config.MEDIAJOBS_ENGINE_FILES_PER_CHILD,
});
const metrics = makeDirectMetrics(pool, tools);
const places = makeDirectPlaces({ nowMs: () => performance.now() }, { children, queue: config.MEDIAJOBS_ENGINE_QUEUE });
const server = makeDirectServer(
  { pool, places, metrics, log, versions: tools },
  {
    root,
    maxSeconds: LIMITS.directSeconds,
    maxBytes: PLANS.enterprise.maxSyncBytes,
  },
);
const endConnections = endConnectionsAtClose(server);
await listen(server, { host: config.MEDIAJOBS_ENGINE_HOST, port: config.MEDIAJOBS_ENGINE_PORT });
const ops = await startOpsServer(
  { metrics: metrics.registry, notReady: () => null },
  { host: config.MEDIAJOBS_OPS_HOST, port: config.MEDIAJOBS_OPS_PORT },
);
runUntilStopped({ log }, async () => {
  endConnections();
  await new Promise((resolve) => server.close(resolve));
  await pool.close();
  await ops.close();
  await removeWorkDirectory(home);
});
announceReady();
log.info({ port: config.MEDIAJOBS_ENGINE_PORT, children, isolation: isolation.summary, tools }, 'serving');

function readConfig(): ReturnType<typeof loadConfig<typeof configSchema>> {
  try {
    return loadConfig(configSchema, process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}
