/** A real PostgreSQL and a real Redis behind fault proxies, that a test may kill and start again. */
import { startPostgres, type Server } from '#api/embedded/postgres.ts';
import { startRedis } from '#api/embedded/redis.ts';
import { startFaultProxy, type FaultProxy } from '#test/faults/fault-proxy.ts';

export interface FaultyServer {
  readonly proxy: FaultProxy;
  /** Past the proxy. */
  url(): string;
  /** SIGKILL, then started again after the wait. */
  crash(whileDown?: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

interface ServersInput {
  readonly dataFolder: string;
  readonly onLine: (line: string) => void;
}

export function startFaultyPostgres({ dataFolder, onLine }: ServersInput): Promise<FaultyServer> {
  return behindProxy({
    isPostgres: true,
    start: () => startPostgres({ dataFolder, durable: true, onLine }),
    socketOf: (url) => `${new URL(url).searchParams.get('host')}/.s.PGSQL.5432`,
  });
}

export function startFaultyRedis({ dataFolder, onLine }: ServersInput): Promise<FaultyServer> {
  return behindProxy({
    isPostgres: false,
    start: () => startRedis({ dataFolder, onLine }),
    socketOf: (url) => new URL(url).pathname,
  });
}

async function behindProxy({
  isPostgres,
  start,
  socketOf,
}: {
  isPostgres: boolean;
  start: () => Promise<Server>;
  socketOf: (url: string) => string;
}): Promise<FaultyServer> {
  let server = await start();
  const proxy = await startFaultProxy({ path: socketOf(server.url) }, { isPostgres });
  return {
    proxy,
    url: () => server.url,
    crash: async (whileDown = async () => undefined) => {
      process.kill(server.pid, 'SIGKILL');
      await server.ended;
      await whileDown();
      server = await start();
      proxy.setTarget({ path: socketOf(server.url) });
    },
    stop: async () => {
      await proxy.close();
      await server.stop();
    },
  };
}
