/**
 * Start and stop of the service: PostgreSQL and Redis before the processes that use them; stopped in the reverse order.
 *
 *   starting ──all ready──▶ serving ──stop──▶ stopping ──▶ stopped
 *      └──────one fails, or stop──────────────────┘
 */
import { startNodeProcess } from '#api/embedded/node-process.ts';
import type { ProcessUsers } from '#api/embedded/process-users.ts';
import { openLogFile } from '#api/embedded/log-file.ts';
import type { DataFolder } from '#api/embedded/data-folder.ts';
import { startPostgres } from '#api/embedded/postgres.ts';
import { recordProcesses } from '#api/embedded/previous-run.ts';
import { PROCESSES, type ProcessName } from '#api/embedded/process-list.ts';
import { WORKERS } from '#api/embedded/process-settings.ts';
import { startRedis } from '#api/embedded/redis.ts';
import { supervise, type Running, type Supervised } from '#api/embedded/supervise.ts';
import type { Clock } from '#crds/process/clock.ts';

interface TreeDeps {
  readonly clock: Clock;
  readonly folder: DataFolder;
  /** null: every process runs as the supervisor's user. */
  readonly users: ProcessUsers | null;
  /** Called with one sentence for the operator. */
  readonly report: (sentence: string) => void;
}

export interface ProcessStart {
  readonly env: Readonly<Record<string, string>>;
  /** Command line put before Node's own, which sets user and file system view; empty: those of the supervisor. */
  readonly identity: readonly string[];
}

export interface Tree {
  /** Starts the servers without a given URL. Returns the URLs of both. */
  startServers(given: {
    databaseUrl: string | undefined;
    redisUrl: string | undefined;
  }): Promise<{ databaseUrl: string; redisUrl: string }>;
  /** Resolves when each of the processes serves. */
  startProcesses(names: readonly ProcessName[], startOf: (name: ProcessName) => ProcessStart): Promise<void>;
  /** Ends all processes, the servers last, and cancels a start in progress. */
  stop(): Promise<void>;
}

export function makeTree({ clock, folder, users, report }: TreeDeps): Tree {
  const stopping = new AbortController();
  const processes: Supervised[] = [];
  const servers: Supervised[] = [];
  /** Starts in progress: a stop waits for them, so that it ends their processes too. */
  const starts: Promise<unknown>[] = [];
  const record = (): void => {
    const alive = [...processes, ...servers].flatMap((part) =>
      ((pid) => (pid === null ? [] : [{ name: part.name, pid }]))(part.pid()),
    );
    try {
      recordProcesses(folder.in('run', 'processes.json'), alive);
    } catch (error) {
      // For example a full disk. The record only makes the next start after a kill sooner.
      report(`the list of processes is not written: ${(error as Error).message}`);
    }
  };
  const add = async (list: Supervised[], name: string, start: () => Promise<Running>): Promise<void> => {
    const started = supervise({ clock, report, onChange: record, signal: stopping.signal }, { name, start });
    starts.push(started);
    list.push(await started);
    record();
  };
  const logOf = (name: string) => openLogFile({ file: folder.in('log', `${name}.log`) });

  const startServer = async (
    name: string,
    start: (onLine: (line: string) => void) => Promise<Running & { url: string }>,
  ): Promise<string> => {
    const log = logOf(name);
    let url = '';
    await add(servers, name, async () => {
      const server = await start((line) => log.write(line));
      url = server.url;
      return server;
    });
    return url;
  };

  return {
    startServers: async ({ databaseUrl, redisUrl }) => {
      const dataFolder = folder.path;
      const urls = await allOf([
        databaseUrl ??
          startServer('postgres', (onLine) =>
            startPostgres({ dataFolder, durable: true, mayConnect: users?.records ?? null, onLine }),
          ),
        redisUrl ??
          startServer('redis', (onLine) =>
            startRedis({ dataFolder, mayConnect: users?.of('api').gid ?? null, onLine }),
          ),
      ]);
      return { databaseUrl: urls[0] ?? '', redisUrl: urls[1] ?? '' };
    },
    startProcesses: async (names, startOf) => {
      await allOf(
        PROCESSES.filter(({ name }) => names.includes(name)).map(({ name, script }) => {
          const log = logOf(name);
          const input = { name, script, ...startOf(name), log, report, signal: stopping.signal };
          return add(processes, name, () => startNodeProcess(input));
        }),
      );
    },
    stop: async () => {
      stopping.abort();
      await Promise.allSettled(starts);
      await stopWorkersLast(processes);
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

/** Waits for all promises, so that nothing starts after a failure is reported. @throws the first rejection. */
async function allOf<T>(works: readonly (T | Promise<T>)[]): Promise<T[]> {
  const settled = await Promise.allSettled(works);
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
}

/** Stops the processes that open files last: the API completes its direct requests first, control ends its runs. */
async function stopWorkersLast(processes: readonly Supervised[]): Promise<void> {
  const isWorker = ({ name }: Supervised): boolean => WORKERS.some((worker) => worker === name);
  const [workers, others] = [processes.filter(isWorker), processes.filter((one) => !isWorker(one))];
  await Promise.all(others.map((one) => one.stop()));
  await Promise.all(workers.map((one) => one.stop()));
}
