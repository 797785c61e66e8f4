/**
 * The whole service as one tree: servers, then migrations, then our processes; and back.
 *
 *   starting ──all ready──▶ serving ──stop──▶ stopping ──▶ stopped
 *      └──────one fails, or stop──────────────────┘
 */
import { startNodeProcess } from '#api/embedded/node-process.ts';
import { openLogFile } from '#api/embedded/log-file.ts';
import type { DataFolder } from '#api/embedded/data-folder.ts';
import { startPostgres } from '#api/embedded/postgres.ts';
import { recordProcesses } from '#api/embedded/previous-run.ts';
import { PROCESSES, type ProcessName } from '#api/embedded/process-list.ts';
import { startRedis } from '#api/embedded/redis.ts';
import { supervise, type Running, type Supervised } from '#api/embedded/supervise.ts';
import type { Clock } from '#crds/shared/clock.ts';

interface TreeDeps {
  readonly clock: Clock;
  readonly folder: DataFolder;
  /** Called with one sentence for the operator. */
  readonly report: (sentence: string) => void;
}

export interface Tree {
  /** Starts the servers that no URL was given for and gives the URLs of both. */
  startServers(given: {
    databaseUrl: string | undefined;
    redisUrl: string | undefined;
  }): Promise<{ databaseUrl: string; redisUrl: string }>;
  /** Resolves when every process serves. */
  startProcesses(envOf: (name: ProcessName) => Record<string, string>): Promise<void>;
  /** Ends everything, the servers last. Ends a start that is under way, too. */
  stop(): Promise<void>;
}

export function makeTree({ clock, folder, report }: TreeDeps): Tree {
  const stopping = new AbortController();
  const processes: Supervised[] = [];
  const servers: Supervised[] = [];
  /** Starts under way; a stop must not miss what they bring up. */
  const starts: Promise<unknown>[] = [];
  const record = (): void => {
    const alive = [...processes, ...servers].flatMap((part) =>
      ((pid) => (pid === null ? [] : [{ name: part.name, pid }]))(part.pid()),
    );
    recordProcesses(folder.in('run', 'processes.json'), alive);
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
        databaseUrl ?? startServer('postgres', (onLine) => startPostgres({ dataFolder, durable: true, onLine })),
        redisUrl ?? startServer('redis', (onLine) => startRedis({ dataFolder, onLine })),
      ]);
      return { databaseUrl: urls[0] ?? '', redisUrl: urls[1] ?? '' };
    },
    startProcesses: async (envOf) => {
      await allOf(
        PROCESSES.map(({ name, script }) => {
          const log = logOf(name);
          const input = { name, script, env: envOf(name), log, report, signal: stopping.signal };
          return add(processes, name, () => startNodeProcess(input));
        }),
      );
    },
    stop: async () => {
      stopping.abort();
      await Promise.allSettled(starts);
      await stopInTurn(processes);
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

/** Waits for all, so that nothing comes up after a failure was told. */
async function allOf<T>(works: readonly (T | Promise<T>)[]): Promise<T[]> {
  const settled = await Promise.allSettled(works);
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
}

/** The engine goes last: the API finishes the direct requests that it has in work. */
async function stopInTurn(processes: readonly Supervised[]): Promise<void> {
  const [engine, others] = [
    processes.filter(({ name }) => name === 'engine'),
    processes.filter(({ name }) => name !== 'engine'),
  ];
  await Promise.all(others.map((one) => one.stop()));
  await Promise.all(engine.map((one) => one.stop()));
}
