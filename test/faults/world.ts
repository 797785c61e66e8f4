/**
 * The whole service as an operator starts it, with everything around it that can fail: PostgreSQL and Redis behind
 * proxies, a clock that moves, fault points, processes to kill, and a receiver for callers' URLs.
 */
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runService, type RunningService } from '#api/embedded/run-service.ts';
import { makeDatabase, type Database } from '#api/store/database.ts';
import { makeLog } from '#crds/shared/log.ts';
import { makeApiClient, type ApiClient } from '#test/support/api-client.ts';
import { makeReceiverCertificates } from '#test/support/receiver-certificates.ts';
import { processesOf, type Role, type ServiceProcess } from '#test/support/service-processes.ts';
import { makeCanaries, watchArguments, type Canaries } from '#test/faults/canaries.ts';
import { mountOwnDisk } from '#test/faults/own-disk.ts';
import { keepInBucket, keepOnDisk, type KeptFiles } from '#test/faults/kept-files.ts';
import { makeFaultFolder, type FaultFolder } from '#test/faults/fault-folder.ts';
import { makeMovedClock, type MovedClock } from '#test/faults/moved-clock.ts';
import { startFaultReceiver, type FaultReceiver } from '#test/faults/receiver.ts';
import { startFaultyPostgres, startFaultyRedis, type FaultyServer } from '#test/faults/servers.ts';
import { watchWalls, type WallWatch } from '#test/faults/watch-walls.ts';
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
  readonly walls: WallWatch;
  /** Past the proxy. */
  readonly database: () => Database;
  readonly service: () => RunningService;
  readonly query: (sql: string, values?: unknown[]) => Promise<Record<string, any>[]>;
  readonly processes: () => ServiceProcess[];
  /** Kills the one that serves in that role; gives its process id. */
  readonly kill: (role: Role, signal?: NodeJS.Signals) => number;
  /** Crashes PostgreSQL, and connects again when it is back. */
  readonly crashPostgres: (whileGone?: () => Promise<void>) => Promise<void>;
  /** Ends the service with that signal and starts it again, with other settings when given. */
  readonly restart: (signal: NodeJS.Signals, settings?: Readonly<Record<string, string>>) => Promise<void>;
  /** Whether `fillDisk` works: the run has mounts of its own. */
  readonly hasOwnDisk: boolean;
  /** From now on files and work have no room left, until `freeDisk`. */
  readonly fillDisk: () => void;
  readonly freeDisk: () => void;
  /** Everything is mended and every process serves. */
  readonly heal: () => Promise<void>;
  /** Ends everything. `keep`: its folder stays to be looked at. */
  readonly close: (how?: { keep: boolean }) => Promise<void>;
}

/** Direct requests that are worked on, and that may wait, at once. */
export const ENGINE_PLACES = { children: 2, queue: 32 } as const;

/** `files`: where the service keeps them. */
export async function openWorld({ files: place }: { files: 'disk' | 'bucket' }): Promise<World> {
  const folder = mkdtempSync(path.join(tmpdir(), 'mediajobs-faults-'));
  const [data, servers, faultsDir] = ['data', 'servers', 'faults'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const made of [data, servers, faultsDir]) mkdirSync(made);
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
  const clock = makeMovedClock(path.join(folder, 'clock'));
  const faults = makeFaultFolder(faultsDir);
  const canaries = makeCanaries();
  const files = place === 'disk' ? keepOnDisk(data) : await keepInBucket();
  const disk = mountOwnDisk(['files', 'work'].map((name) => path.join(data, name)));
  const settings = {
    DATABASE_URL: `postgresql://mediajobs@127.0.0.1:${postgres.proxy.port}/postgres`,
    REDIS_URL: `redis://127.0.0.1:${redis.proxy.port}`,
    MEDIAJOBS_PRIVATE_TARGETS: '127.0.0.0/8',
    MEDIAJOBS_EXTRA_CA_FILE: authorityFile,
    MEDIAJOBS_CLOCK_FILE: clock.file,
    MEDIAJOBS_FAULTS_DIR: faultsDir,
    MEDIAJOBS_ENGINE_CHILDREN: String(ENGINE_PLACES.children),
    MEDIAJOBS_ENGINE_QUEUE: String(ENGINE_PLACES.queue),
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
  const watches = [watchArguments(canaries, data), watchWalls(data)] as const;
  const kill = (role: Role, signal: NodeJS.Signals = 'SIGKILL'): number => {
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
    walls: watches[1],
    database: () => database,
    service: () => service,
    query: async (sql, values = []) => (await database.query<Record<string, any>>(sql, values)).rows,
    processes: () => processesOf(data),
    hasOwnDisk: disk !== null,
    fillDisk: () => disk?.fill(),
    freeDisk: () => disk?.free(),
    kill,
    crashPostgres: async (whileGone) => {
      await postgres.crash(whileGone);
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

const SERVING: readonly Role[] = ['api', 'control', 'courier', 'engine'];

/** All four are there and ready, as their own ops ports say. */
async function untilServing(service: RunningService, data: string): Promise<void> {
  const { ops } = JSON.parse(readFileSync(path.join(data, 'run', 'connection.json'), 'utf8')) as {
    ops: Record<string, string>;
  };
  const isReady = async (url: string): Promise<boolean> =>
    fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2000) }).then(
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
