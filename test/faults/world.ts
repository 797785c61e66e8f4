/**
 * The whole service as an operator starts it, with everything around it that can fail: PostgreSQL and Redis behind
 * proxies, a clock that moves, fault points, processes to kill, and a receiver for callers' URLs.
 */
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runService, type RunningService } from '#api/embedded/run-service.ts';
import { makeDatabase, type Database } from '#api/store/database.ts';
import { makeLog } from '#crds/process/log.ts';
import { makeApiClient, type ApiClient } from '#test/support/api-client.ts';
import { getText } from '#test/support/get-text.ts';
import { makeReceiverCertificates } from '#test/support/receiver-certificates.ts';
import { processesOf, type ProcessRole, type ServiceProcess } from '#test/support/service-processes.ts';
import { makeCanaries, watchArguments, type Canaries } from '#test/faults/canaries.ts';
import { mountOwnDisk } from '#test/faults/own-disk.ts';
import { keepInBucket, keepOnDisk, type KeptFiles } from '#test/faults/kept-files.ts';
import { makeFaultFolder, type FaultFolder } from '#test/faults/fault-folder.ts';
import { makeMovedClock, type MovedClock } from '#test/faults/moved-clock.ts';
import { startFaultReceiver, type FaultReceiver } from '#test/faults/receiver.ts';
import { startFaultyPostgres, startFaultyRedis, type FaultyServer } from '#test/faults/servers.ts';
import { watchIsolation, type IsolationWatch } from '#test/faults/watch-isolation.ts';
import { until } from '#test/faults/until.ts';

export interface World {
  readonly folder: string;
  /** The service's data folder. */
  readonly data: string;
  readonly clock: MovedClock;
  readonly faults: FaultFolder;
  readonly postgres: FaultyServer;
  readonly redis: FaultyServer;
  readonly receiver: FaultReceiver;
  readonly files: KeptFiles;
  readonly canaries: Canaries;
  readonly isolation: IsolationWatch;
  /** Direct connection, without the proxy. */
  readonly database: () => Database;
  readonly service: () => RunningService;
  readonly query: (sql: string, values?: unknown[]) => Promise<Record<string, any>[]>;
  readonly processes: () => ServiceProcess[];
  /** Kills the process of that role; returns its process id. */
  readonly kill: (role: ProcessRole, signal?: NodeJS.Signals) => number;
  /** Crashes PostgreSQL, and connects again when it is up again. */
  readonly crashPostgres: (whileDown?: () => Promise<void>) => Promise<void>;
  /** Ends the service with that signal and starts it again, with other settings when given. */
  readonly restart: (signal: NodeJS.Signals, settings?: Readonly<Record<string, string>>) => Promise<void>;
  /** True when `fillDisk` works, because the run has its own mounts. */
  readonly hasOwnDisk: boolean;
  /** Leaves no space for files and work until `freeDisk`. */
  readonly fillDisk: () => void;
  readonly freeDisk: () => void;
  /** Ends all faults and waits until every process serves. */
  readonly heal: () => Promise<void>;
  /** Ends everything. `keep`: its folder is kept for inspection. */
  readonly close: (how?: { keep: boolean }) => Promise<void>;
}

/** Direct requests that run, and that may wait, at the same time. */
export const ENGINE_CAPACITY = { children: 2, queue: 32 } as const;

/** Starts the service and everything around it. `files`: the store of the service. */
export async function openWorld({ files: store }: { files: 'disk' | 'bucket' }): Promise<World> {
  const folder = mkdtempSync(path.join(tmpdir(), 'mediajobs-faults-'));
  const [data, servers, faultsDir, clockFolder] = ['data', 'servers', 'faults', 'clock'].map((name) =>
    path.join(folder, name),
  ) as [string, string, string, string];
  for (const made of [data, servers, faultsDir, clockFolder]) mkdirSync(made);
  // Processes of other users take a fault's file by renaming it.
  chmodSync(faultsDir, 0o777);
  const onLine = (line: string): void => appendFileSync(path.join(folder, 'servers.log'), `${line}\n`);
  const [postgres, redis] = await Promise.all([
    startFaultyPostgres({ dataFolder: servers, onLine }),
    startFaultyRedis({ dataFolder: servers, onLine }),
  ]);
  const certificates = makeReceiverCertificates();
  // In the data folder, by which the courier's process is found.
  const authorityFile = path.join(data, 'receivers-ca.pem');
  writeFileSync(authorityFile, certificates.authority);
  const receiver = await startFaultReceiver(certificates);
  const clock = makeMovedClock(path.join(clockFolder, 'ahead'));
  const faults = makeFaultFolder(faultsDir);
  const canaries = makeCanaries();
  const files = store === 'disk' ? keepOnDisk(data) : await keepInBucket();
  const disk = mountOwnDisk(['files', 'work'].map((name) => path.join(data, name)));
  const settings = {
    DATABASE_URL: `postgresql://mediajobs@127.0.0.1:${postgres.proxy.port}/postgres`,
    REDIS_URL: `redis://127.0.0.1:${redis.proxy.port}`,
    MEDIAJOBS_PRIVATE_TARGETS: '127.0.0.0/8',
    MEDIAJOBS_EXTRA_CA_FILE: authorityFile,
    MEDIAJOBS_CLOCK_FILE: clock.file,
    MEDIAJOBS_FAULTS_DIR: faultsDir,
    MEDIAJOBS_ENGINE_CHILDREN: String(ENGINE_CAPACITY.children),
    MEDIAJOBS_ENGINE_QUEUE: String(ENGINE_CAPACITY.queue),
    ...canaries.settings,
    ...files.settings,
  };
  const start = (extra: Readonly<Record<string, string>> = {}): Promise<RunningService> =>
    runService({ data, settings: { ...settings, ...extra }, onProblem: (line) => onLine(`service: ${line}`) });
  let service = await start().catch((error: unknown) => {
    throw new Error(`the service did not start; ${path.join(folder, 'servers.log')} says why`, { cause: error });
  });
  const connectDatabase = (): Database =>
    makeDatabase({ url: postgres.url(), log: makeLog('faults', 'silent'), maxConnections: 25 });
  let database = connectDatabase();
  const watches = [watchArguments(canaries, data), watchIsolation(data)] as const;
  const kill = (role: ProcessRole, signal: NodeJS.Signals = 'SIGKILL'): number => {
    const victim = processesOf(data).find((one) => one.role === role && !one.ofJob);
    if (victim === undefined) throw new Error(`no ${role} runs`);
    process.kill(victim.pid, signal);
    return victim.pid;
  };
  const heal = async (): Promise<void> => {
    faults.clear();
    disk?.free();
    for (const proxy of [postgres.proxy, redis.proxy, files.proxy]) proxy?.mend();
    await untilServing(service, data);
  };
  return {
    folder,
    data,
    clock,
    faults,
    postgres,
    redis,
    receiver,
    files,
    canaries,
    isolation: watches[1],
    database: () => database,
    service: () => service,
    query: async (sql, values = []) => (await database.query<Record<string, any>>(sql, values)).rows,
    processes: () => processesOf(data),
    hasOwnDisk: disk !== null,
    fillDisk: () => disk?.fill(),
    freeDisk: () => disk?.free(),
    kill,
    crashPostgres: async (whileDown) => {
      await postgres.crash(whileDown);
      await database.close();
      database = connectDatabase();
    },
    restart: async (signal, extra) => {
      process.kill(service.pid, signal);
      await service.ended;
      service = await start(extra);
      await heal();
    },
    heal,
    close: async ({ keep } = { keep: false }) => {
      for (const watch of watches) watch.stop();
      await service.stop();
      await database.close();
      await Promise.all([receiver.close(), files.close(), postgres.stop(), redis.stop()]);
      disk?.unmount();
      if (!keep) rmSync(folder, { recursive: true, force: true });
    },
  };
}

const SERVING: readonly ProcessRole[] = ['api', 'control', 'courier', 'runs', 'engine'];

/** All four are there and ready, as their own ops ports say. */
async function untilServing(service: RunningService, data: string): Promise<void> {
  const { ops } = JSON.parse(readFileSync(path.join(data, 'run', 'connection.json'), 'utf8')) as {
    ops: Record<string, string>;
  };
  const isReady = async (url: string): Promise<boolean> =>
    getText(`${url}/readyz`, AbortSignal.timeout(2000)).then(
      ({ status }) => status === 200,
      () => false,
    );
  await until('every process serves', async () => {
    const roles = new Set(processesOf(data).map(({ role }) => role));
    const areReady = await Promise.all(Object.values(ops).map(isReady));
    return SERVING.every((role) => roles.has(role)) && areReady.every(Boolean);
  });
  const api: ApiClient = makeApiClient(service);
  await until('the API answers', () =>
    api('GET', '/v1/receipt_keys').then(
      ({ status }) => status === 200,
      () => false,
    ),
  );
  await api.close();
}
