/** Engine of the direct lane: files of different accounts are opened in different processes. */
import { availableParallelism, tmpdir } from 'node:os';
import { LIMITS, PLANS } from '#crds/catalogue/plans.ts';
import { endConnectionsAtClose } from '#crds/process/end-connections.ts';
import { ConfigError, loadConfig } from '#crds/process/config.ts';
import { armFaultPoints } from '#crds/process/fault-point.ts';
import { makeLog } from '#crds/process/log.ts';
import { listen, opsAddress, startOpsServer } from '#crds/process/ops-server.ts';
import { allowHeapGrowth } from '#crds/process/heap-growth.ts';
import { announceReady } from '#crds/process/ready.ts';
import { settings } from '#crds/process/settings.ts';
import { runUntilStopped } from '#crds/process/shutdown.ts';
import { AdmissionControl } from '#worker-image/direct/admission-control.ts';
import { makeDirectMetrics } from '#worker-image/direct/direct-metrics.ts';
import { makeDirectServer } from '#worker-image/direct/direct-server.ts';
import { ChildPool } from '#worker-image/sandbox/child-pool.ts';
import { engineListener, ENGINE_LISTENER_SETTINGS } from '#worker-image/direct/engine-listener.ts';
import { shareCodeCache } from '#worker-image/share-code-cache.ts';
import { findTool, missingTools } from '#worker-image/tools/find-tool.ts';
import { IsolationMissing, probeIsolation, type Isolation } from '#worker-image/tools/isolation.ts';
import { isWithoutHevc } from '#worker-image/tools/hevc.ts';
import { missingCodecs } from '#worker-image/tools/missing-codecs.ts';
import { toolVersions } from '#worker-image/tools/tool-versions.ts';
import { makeWorkDirectory, removeWorkDirectory, sweepWorkDirectories } from '#worker-image/work-directory.ts';

const configSchema = settings.pick({
  ...ENGINE_LISTENER_SETTINGS,
  MEDIAJOBS_ENGINE_CHILDREN: true,
  MEDIAJOBS_ENGINE_QUEUE: true,
  MEDIAJOBS_ENGINE_SPOOL_MB: true,
  MEDIAJOBS_ENGINE_FILES_PER_CHILD: true,
  MEDIAJOBS_WORK_DIR: true,
  MEDIAJOBS_OPS_SOCKET: true,
  MEDIAJOBS_ISOLATION: true,
  MEDIAJOBS_OPS_HOST: true,
  MEDIAJOBS_OPS_PORT: true,
  MEDIAJOBS_FAULTS_DIR: true,
  MEDIAJOBS_LOG_LEVEL: true,
});

/** Number of processes for each extra one, which accounts without a running file may use. */
const EXTRA_PER_CHILDREN = 2;
/** Bodies that may be received at once, slow ones included, for each request that may wait or run. */
const SPOOLED_PER_ADMITTED = 4;

const { config, listener } = readConfig();
const log = makeLog('engine', config.MEDIAJOBS_LOG_LEVEL);
armFaultPoints({ log }, config.MEDIAJOBS_FAULTS_DIR);
const root = config.MEDIAJOBS_WORK_DIR ?? tmpdir();
await sweepWorkDirectories(root);
shareCodeCache(process.env['NODE_COMPILE_CACHE']);
const [isolation, tools] = await Promise.all([findIsolation(), toolVersions()]);
if (isolation.level === 'none') log.warn({ isolation: isolation.summary }, 'files are opened without isolation');
for (const { tool, problem } of missingTools()) log.error({ tool }, problem);

const children = config.MEDIAJOBS_ENGINE_CHILDREN ?? availableParallelism();
const childrenDirectory = makeWorkDirectory(root);
const pool = new ChildPool({
  log,
  isolation,
  directory: childrenDirectory,
  children,
  queue: config.MEDIAJOBS_ENGINE_QUEUE,
  extra: Math.ceil(children / EXTRA_PER_CHILDREN),
  filesPerChild: config.MEDIAJOBS_ENGINE_FILES_PER_CHILD,
});
const metrics = makeDirectMetrics(pool, tools);
const admissionControl = new AdmissionControl(
  { nowMs: () => performance.now() },
  {
    children,
    queue: config.MEDIAJOBS_ENGINE_QUEUE,
    spool: {
      requests: SPOOLED_PER_ADMITTED * (children + config.MEDIAJOBS_ENGINE_QUEUE),
      bytes: config.MEDIAJOBS_ENGINE_SPOOL_MB * 1024 ** 2,
    },
  },
);
const server = makeDirectServer(
  { pool, admissionControl, metrics, log, versions: tools },
  {
    root,
    maxSeconds: LIMITS.directSeconds,
    maxBytes: PLANS.enterprise.maxSyncBytes,
  },
  listener.server,
);
const endConnections = endConnectionsAtClose(server);
await listen(server, listener.address);
const ops = await startOpsServer(
  {
    metrics: metrics.registry,
    notReady: () => null,
    warning: isolation.level === 'none' ? isolation.summary : null,
  },
  opsAddress(config),
);
runUntilStopped({ log }, async () => {
  endConnections();
  await new Promise((resolve) => server.close(resolve));
  await pool.close();
  await ops.close();
  await removeWorkDirectory(childrenDirectory);
});
allowHeapGrowth();
announceReady();
log.info(
  { ...listener.address, children, isolation_level: isolation.level, isolation: isolation.summary, tools },
  'serving',
);

findTool('ffmpeg')
  .then((ffmpeg) => missingCodecs(ffmpeg, { withoutHevc: isWithoutHevc() }))
  .then(
    (missing) => {
      if (missing.length > 0) log.error({ missing }, 'ffmpeg lacks what some files need: install one that has it');
    },
    (error: unknown) => log.error({ err: error }, 'codecs of ffmpeg not read'),
  );

/** Returns the isolation. Exits when there is none and the setting does not accept that. */
async function findIsolation(): Promise<Isolation> {
  try {
    return await probeIsolation({ setting: config.MEDIAJOBS_ISOLATION });
  } catch (error) {
    if (!(error instanceof IsolationMissing)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}

function readConfig() {
  try {
    const config = loadConfig(configSchema, process.env);
    return { config, listener: engineListener(config) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}
