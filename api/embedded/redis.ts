/**
 * Redis or Valkey from Debian's package, reachable on a unix socket only. It holds rate limits and leases, which may be lost, so
 * it writes nothing to disk.
 */
import { accessSync, closeSync, constants, openSync } from 'node:fs';
import { folderHash } from '#api/embedded/folder-hash.ts';
import { makeSocketFolder } from '#api/embedded/socket-folder.ts';
import { StartError } from '#api/embedded/start-error.ts';
import type { Server } from '#api/embedded/postgres.ts';
import { readyOrEnded, startSystemProcess } from '#api/embedded/system-process.ts';
import { unprivilegedUser } from '#api/embedded/system-user.ts';

/** Programs that serve its protocol, in the order of preference. */
const SERVERS = ['/usr/bin/redis-server', '/usr/bin/valkey-server'];
const STOP_GRACE_MS = 5000;
const SOCKET_NAME = 'redis.sock';
/** Path of the socket folder inside the server process; see `open` of SystemCommand. */
const OWN_FOLDER = '/proc/self/fd/3';

/** Starts Redis and waits until it accepts connections. @throws StartError when the package is missing or the server does not start. */
export async function startRedis({
  dataFolder,
  mayConnect = null,
  onLine,
}: {
  dataFolder: string;
  /** Group whose processes may connect; by default the server's user and the caller alone. */
  mayConnect?: number | null;
  onLine: (line: string) => void;
}): Promise<Server> {
  const file = findServer();
  const user = unprivilegedUser(['redis', 'valkey', 'nobody']);
  const sockets = makeSocketFolder(dataFolder, 'redis', { owner: user, mayEnter: mayConnect });
  const folder = openSync(sockets.path, constants.O_RDONLY | constants.O_DIRECTORY);
  const { promise: ready, resolve: isReady } = Promise.withResolvers<void>();
  const server = await startSystemProcess({
    file,
    args: redisArguments(folderHash(dataFolder)),
    user,
    deathSignal: 'TERM',
    open: [folder],
    onLine: (line) => {
      onLine(line);
      // Valkey writes it with a capital letter.
      if (/ready to accept connections/i.test(line)) isReady();
    },
  }).finally(() => closeSync(folder));
  const end = await readyOrEnded(ready, server);
  if (end !== null) throw new StartError(`Redis did not start (${end}).`);
  return {
    url: `unix://${sockets.path}/${SOCKET_NAME}`,
    pid: server.pid,
    ended: server.ended,
    stop: async () => {
      await server.stop('SIGTERM', STOP_GRACE_MS);
      sockets.remove();
    },
  };
}

function findServer(): string {
  const server = SERVERS.find(isExecutable);
  if (server === undefined) {
    throw new StartError(
      "Redis is missing: install Debian's package redis-server or valkey-server, run hack/setup, or give REDIS_URL.",
    );
  }
  return server;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function redisArguments(hash: string): string[] {
  const settings = {
    dir: OWN_FOLDER,
    port: '0',
    unixsocket: `${OWN_FOLDER}/${SOCKET_NAME}`,
    // The mode of the socket's folder limits who may connect.
    unixsocketperm: '777',
    save: '',
    appendonly: 'no',
    maxmemory: '64mb',
    'maxmemory-policy': 'noeviction',
    databases: '64',
    // Shows in process lists which service it belongs to.
    'proc-title-template': `{title}-mediajobs-${hash}`,
  };
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
}
